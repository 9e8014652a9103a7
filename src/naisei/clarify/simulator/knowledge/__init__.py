"""What the rule simulator knows: needs behind the actions, and what questions may ask."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from naisei.clarify.schemas import ActionSet
from naisei.clarify.simulator.cues import Cue, cue
from naisei.japanese.normal import normalise

__all__ = [
    "FACETS",
    "Facet",
    "Need",
    "Proposition",
    "Propositions",
    "is_known",
    "needs",
    "propositions",
]

FACETS = ("state", "why", "plan", "use", "kind", "place", "dir", "when", "whom")


@dataclass(frozen=True, slots=True)
class Need:
    """The hidden need behind one action. facets: facet → phrases. wish: `eat`, `drink` → phrase.

    group: letter of what becomes of the thing (B brought, T tidied, S stored, R chilled,
    H heated, G thrown away).
    """

    id: int
    group: str
    facets: Mapping[str, tuple[str, ...]]
    wish: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposition:
    """Something that holds for the needs in `yes`, may hold for those in `maybe`, else not."""

    name: str
    facet: str
    cues: tuple[Cue, ...]
    yes: frozenset[int]
    maybe: frozenset[int]

    def truth(self, need: int) -> str:
        """`yes`, `maybe` or `no`."""
        return "yes" if need in self.yes else "maybe" if need in self.maybe else "no"


@dataclass(frozen=True, slots=True)
class Facet:
    """A thing that open questions ask after."""

    name: str
    cues: tuple[Cue, ...]


@dataclass(frozen=True, slots=True)
class Propositions:
    """All that can be asked, in one language; `outside`: topics that lead nowhere."""

    items: tuple[Proposition, ...]
    facets: tuple[Facet, ...]
    outside: tuple[Cue, ...]
    vocabulary: frozenset[str]


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


def _ids(listed: list[int | str], groups: Mapping[str, list[int]]) -> frozenset[int]:
    return frozenset(
        i for entry in listed for i in (groups[entry] if isinstance(entry, str) else [entry])
    )


@lru_cache(maxsize=64)
def is_known(actions: ActionSet) -> bool:
    """Whether these are actions of AmbigAct-40, all or some: by name, or by id and text."""
    texts = _toml("propositions.toml")["texts"]
    if any(a.id > len(texts["ja"]) for a in actions):
        return False
    if actions.name.startswith("ambigact40"):
        return True
    return all(
        normalise(a.text) in (normalise(texts["ja"][a.id - 1]), normalise(texts["en"][a.id - 1]))
        for a in actions
    )


@cache
def propositions(language: str) -> Propositions:
    """What can be asked in a language (`ja`, `en`) about the 40 needs."""
    data = _toml("propositions.toml")
    groups = data["groups"]
    items = tuple(
        Proposition(
            p["name"],
            p["facet"],
            tuple(cue(c, language) for c in p[language]),
            _ids(p["yes"], groups),
            _ids(p["maybe"], groups) - _ids(p["yes"], groups),
        )
        for p in data["proposition"]
    )
    facets = tuple(
        Facet(f["name"], tuple(cue(c, language) for c in f[language])) for f in data["facet"]
    )
    outside = tuple(cue(c, language) for c in data["outside"][language])
    vocabulary = frozenset(w for p in items for c in p.cues for w in c) | frozenset(
        w for f in facets for c in f.cues for w in c
    )
    return Propositions(items, facets, outside, vocabulary)


@cache
def needs(language: str) -> Mapping[int, Need]:
    """The 40 needs in a language, by action id."""
    data = _toml(f"needs_ambigact40.{language}.toml")
    groups = _toml("propositions.toml")["groups"]
    out: dict[int, Need] = {}
    for entry in data["need"]:
        number = entry["id"]
        group = next(g for g in "BTSRHG" if number in groups[g])
        facets = {f: tuple(entry[f]) for f in ("state", "why", "plan", "use", "kind")}
        facets["dir"] = tuple(data["direction"][group])
        facets |= {f: tuple(data[f][group]) for f in ("place", "when", "whom")}
        out[number] = Need(number, group, facets, entry.get("wish", {}))
    return out
