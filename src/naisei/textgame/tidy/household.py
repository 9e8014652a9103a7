"""The bundled table of a household: names of things and receptacles, and what they stand for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

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


#: Kind of room → what it is called.
ROOMS = {
    "kitchen": "kitchen, kitchenette, cookhouse, scullery, galley, cookery",
    "pantry": "pantry, larder, storeroom, storage room, food store",
    "livingroom": "livingroom, living room, lounge, parlor, parlour, sitting room, family room, "
    "den, salon, drawing room, tv room, media room, sunroom, conservatory, front room",
    "bedroom": "bedroom, guest room, master bedroom, chamber, dressing room, boudoir, dormitory",
    "bathroom": "bathroom, restroom, washroom, toilet, lavatory, shower room, powder room, wc",
    "corridor": "corridor, hallway, hall, entrance, entryway, foyer, vestibule, landing, lobby, "
    "passage, mudroom, mud room, entrance hall, genkan, porch, cloakroom, passageway, entry",
    "laundry": "laundry room, laundry, utility room, washhouse, laundromat, wash room",
    "backyard": "backyard, yard, garden, patio, back yard, courtyard, front yard, terrace, lawn, "
    "deck, driveway, veranda, outside",
    "balcony": "balcony, roof terrace, roof",
    "garage": "garage, carport, workshop, workroom, tool room",
    "shed": "shed, barn, tool shed, garden shed",
    "office": "office, study, study room, home office, workspace, library, computer room, "
    "work room",
    "diningroom": "diningroom, dining room, breakfast room, dining area",
    "playroom": "playroom, nursery, kids room, children's room, game room, games room, child's "
    "room, kid's room, toy room, craft room, hobby room",
    "basement": "basement, cellar, gym, home gym, boiler room",
    "attic": "attic, loft, storage, box room",
    "cellar": "wine cellar",
}
_KIND_OF = {word: kind for kind, words in ROOMS.items() for word in listed(words)}


def room_kind(name: str) -> str:
    """The kind of room; its own name, in normal form, where that is unknown."""
    found = longest_ending(normal(name), _KIND_OF)
    return found[1] if found else normal(name)


#: What comes after these words says more of a thing, but not what it is.
_AFTER = re.compile(r"\b(?:of|with|for|in|from)\b")
#: Names that say how much, or in what, there is of a thing: a `shampoo bottle` is shampoo.
_PACKAGES = frozenset(
    listed(
        "bottle, box, can, jar, bag, carton, packet, pack, package, tube, container, tin, tub, "
        "roll, bunch, sack, stick, block, cube, piece, slice, leaf, pot, jug, set, case, bar"
    )
)
#: Packages in which food keeps.
_SEALED = frozenset({"can", "tin"})
_ROOM_WORDS = tuple(
    sorted({w for words in ROOMS.values() for w in listed(words)}, key=len, reverse=True)
)


@dataclass(frozen=True, slots=True)
class NamedThing:
    """head: the last word. kind: class of the table, empty if unknown. family, state: empty if
    unknown or none. places: by rank; empty if unknown. cues: words that a receptacle made for
    it would have in its name, empty where a state sends it elsewhere. plain: of an unknown
    thing, its name without the words that say its state."""

    name: str
    head: str
    kind: str = ""
    family: str = ""
    state: str = ""
    places: Tiers = ()
    cues: frozenset[str] = frozenset()
    plain: str = ""


@dataclass(frozen=True, slots=True)
class NamedReceptacle:
    """kind: empty if unknown. sure: the table has the name, not only its last word. room: the
    kind of room where it stands. words: all but the last, that say what it is for."""

    name: str
    kind: str
    room: str
    sure: bool
    words: frozenset[str]


@lru_cache(maxsize=4096)
def name_thing(name: str) -> NamedThing:
    """What the table knows of a thing by its name."""
    home, text = household(), normal(name)
    found = _packed(home, text) or longest_ending(text, home.class_of)
    if found is None and (cut := _AFTER.search(text)) and cut.start():
        found = longest_ending(text[: cut.start()].strip(), home.class_of)
    if found is None:
        found = _for_what(home, text)
    if found is None:
        return _stated(home, name, text, None)
    before, of = found
    return _stated(home, name, before, home.classes[of])


def places_in_state(of: ThingClass, state: str) -> Tiers:
    """Where things of a class belong in a state, by the state's name."""
    found = next((s.of(of.family) for s in household().states if s.name == state), None)
    return found or of.places


def _packed(home: Household, text: str) -> tuple[str, str] | None:
    """The class of what is packed: of `honey` in `honey bottle`, where the whole is not known."""
    before, _, last = text.rpartition(" ")
    if singular(last) not in _PACKAGES:
        return None
    whole = longest_ending(text, home.class_of)
    if whole is not None and whole[0] != before:
        return None
    inside = longest_ending(before, home.class_of)
    if inside is None:
        return None
    return (f"{inside[0]} {last} of" if last in _SEALED else inside[0]), inside[1]


def _for_what(home: Household, text: str) -> tuple[str, str] | None:
    """Of an unknown thing, the class that a word before its last names: a `dog whatnot`."""
    words = text.split()
    for word in words[:-1]:
        for each in home.classes.values():
            if word in each.cues:
                return text, each.name
    return None


def _stated(home: Household, name: str, before: str, of: ThingClass | None) -> NamedThing:
    """before: the words that may say in what state the thing is."""
    head = normal(name).rpartition(" ")[2]
    family = of.family if of else ""
    padded = f" {before} "
    stable = family in FOOD and any(f" {m} of " in f"{padded}of " for m in home.shelf_stable)
    for state in home.states:
        if not _state_word(state, padded) and not (stable and state.name == "preserved"):
            continue
        if of is None:
            plain = padded.replace(f" {_state_word(state, padded)} ", " ").strip() or name
            # Waste is waste, whatever it was.
            places = state.of("thing") or ()
            return NamedThing(name, head, state=state.name, places=places, plain=plain)
        elsewhere = state.of(family)
        if elsewhere is None:
            return NamedThing(name, head, of.name, family, state.name, of.places, of.cues)
        return NamedThing(name, head, of.name, family, state.name, elsewhere)
    if of is None:
        return NamedThing(name, head, plain=normal(name))
    return NamedThing(name, head, of.name, family, "", of.places, of.cues)


def _state_word(state: State, padded: str) -> str:
    return next((word for word in state.words if f" {word} " in padded), "")


@lru_cache(maxsize=4096)
def name_receptacle(name: str, room: str) -> NamedReceptacle:
    """What the table knows of a receptacle by its name and the room where it stands."""
    home, text, at = household(), normal(name), room_kind(room)
    words = frozenset(text.split()[:-1])
    bare = _without_room(text)
    if bare != text and (said := room_kind(text[: len(text) - len(bare)])) in ROOMS:
        at = said
    exact = next((home.kind_of[e] for e in (text, bare) if e in home.kind_of), None)
    local = _generic(home, bare, at)
    if local is not None and (exact is None or at not in home.kinds[exact].rooms):
        # `sink` in a bathroom, `shelf` in a laundry room.
        return NamedReceptacle(name, local, at, False, words)
    if exact is not None:
        return NamedReceptacle(name, exact, at, True, words)
    found = longest_ending(text, home.kind_of)
    if found is not None and len(text.split()) - len(found[0].split()) > 1:
        return NamedReceptacle(name, found[1], at, True, words)
    for ending in endings(bare):
        if (local := _generic(home, ending, at)) is not None:
            return NamedReceptacle(name, local, at, False, words)
    return NamedReceptacle(name, found[1] if found else "", at, False, words)


def _without_room(text: str) -> str:
    """`bedroom cabinet` → `cabinet`."""
    for word in _ROOM_WORDS:
        if text.startswith(f"{word} "):
            return text[len(word) + 1 :]
    return text


def _generic(home: Household, head: str, room: str) -> str | None:
    """The kind that a general word such as `cabinet` is of in a kind of room."""
    fits = [
        (kind.rooms.index(room), kind.name)
        for kind in home.kinds.values()
        if head in kind.generic and room in kind.rooms
    ]
    return min(fits, key=lambda fit: fit[0])[1] if fits else None
