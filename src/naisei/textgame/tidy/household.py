"""The bundled table of a household, and names of things as words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = [
    "FOOD",
    "Household",
    "ReceptacleKind",
    "State",
    "ThingClass",
    "endings",
    "household",
    "listed",
    "longest_ending",
    "normal",
    "singular",
]


_PUNCTUATION = re.compile(r"[^a-z0-9'&]+")
_ES = ("ches", "shes", "xes", "sses", "zes", "toes", "goes")


def normal(name: str) -> str:
    """Lower case, single spaces, no hyphens: `T-shirt` → `t shirt`."""
    return _PUNCTUATION.sub(" ", name.lower()).strip()


def singular(word: str) -> str:
    """The singular of a regular plural; other words as they are."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_ES):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def endings(name: str) -> Iterator[str]:
    """The name, then what is left without its first word, and so on."""
    words = name.split()
    for start in range(len(words)):
        yield " ".join(words[start:])


def longest_ending(name: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    """(the words before, what the longest known ending stands for), plurals alike.

    name: in normal form, as the keys of `known`.
    """
    for ending in endings(name):
        if (found := known.get(ending) or known.get(_singular_last(ending))) is not None:
            return name[: len(name) - len(ending)].strip(), found
    return None


def _singular_last(name: str) -> str:
    before, _, last = name.rpartition(" ")
    return f"{before} {singular(last)}".strip()


def listed(text: str) -> list[str]:
    """The items of a list with commas, in normal form."""
    return [word for part in text.split(",") if (word := normal(part))]


#: Families of things that are eaten or drunk.
FOOD = frozenset({"fresh", "chilled", "drink", "dry"})
Tiers = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ThingClass:
    """Things that are kept alike. places: kinds of receptacles by rank. cues: see `things.toml`."""

    name: str
    family: str
    words: tuple[str, ...]
    cues: frozenset[str]
    places: Tiers


@dataclass(frozen=True, slots=True)
class ReceptacleKind:
    """rooms: where it stands, likely ones first. use: 0–1, how much it is made for keeping."""

    name: str
    words: tuple[str, ...]
    rooms: tuple[str, ...]
    generic: tuple[str, ...]
    use: float


@dataclass(frozen=True, slots=True)
class State:
    """A state that things are in, and where those of a family belong then."""

    name: str
    words: tuple[str, ...]
    places: dict[str, Tiers]

    def of(self, family: str) -> Tiers | None:
        """`None`: the state changes nothing for the family."""
        group = "food" if family in FOOD else family
        return self.places.get(family, self.places.get(group, self.places.get("other"))) or None


@dataclass(frozen=True)
class Household:
    """classes, kinds: by name. class_of, kind_of: word in normal form → name."""

    classes: dict[str, ThingClass]
    kinds: dict[str, ReceptacleKind]
    states: tuple[State, ...]
    shelf_stable: frozenset[str]
    class_of: dict[str, str] = field(default_factory=dict)
    kind_of: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table, entries in (
            (self.class_of, self.classes.values()),
            (self.kind_of, self.kinds.values()),
        ):
            for entry in entries:
                for word in entry.words:
                    table.setdefault(word, entry.name)
            # A plural in the table stands for its singular too, where that means nothing else.
            for word, name in list(table.items()):
                before, _, last = word.rpartition(" ")
                table.setdefault(f"{before} {singular(last)}".strip(), name)


@lru_cache(maxsize=1)
def household() -> Household:
    """The tables of `data/household`."""
    classes = {
        name: ThingClass(
            name,
            row["family"],
            tuple(listed(row["words"])),
            frozenset(listed(row.get("cues", ""))),
            _tiers(row["places"]),
        )
        for name, row in _table("things").items()
    }
    kinds = {
        name: ReceptacleKind(
            name,
            (normal(name), *listed(row["words"])),
            tuple(listed(row["rooms"])),
            tuple(listed(row.get("generic", ""))),
            float(row.get("use", 1.0)),
        )
        for name, row in _table("receptacles").items()
    }
    given = _table("states")
    states = tuple(
        State(
            row["name"],
            tuple(listed(row["words"])),
            {key: _tiers(value) for key, value in row.items() if key not in ("name", "words")},
        )
        for row in given["state"]
    )
    shelf_stable = frozenset(listed(given["measures"]["shelf_stable"]))
    return Household(classes, kinds, states, shelf_stable)


def _table(name: str) -> dict[str, Any]:
    path = files("naisei") / "data" / "household" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _tiers(text: str) -> Tiers:
    ranks = ([k.strip() for k in rank.split(",") if k.strip()] for rank in text.split("|"))
    return tuple(tuple(rank) for rank in ranks if rank)
