"""The bundled household table: names of things and receptacles, and their meanings."""

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
    """The singular of a regular plural; other words unchanged."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_ES):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def endings(name: str) -> Iterator[str]:
    """The name, then without its first word, and so on."""
    words = name.split()
    for start in range(len(words)):
        yield " ".join(words[start:])


def longest_ending(name: str, table: Mapping[str, str]) -> tuple[str, str] | None:
    """(preceding words, value of the longest ending in `table`), also for plurals; else `None`.

    name: in normal form, as the keys of `table`.
    """
    for ending in endings(name):
        if (found := table.get(ending) or table.get(_singular_last(ending))) is not None:
            return name[: len(name) - len(ending)].strip(), found
    return None


def _singular_last(name: str) -> str:
    before, _, last = name.rpartition(" ")
    return f"{before} {singular(last)}".strip()


def listed(text: str) -> list[str]:
    """The items of a comma-separated list, in normal form."""
    return [word for part in text.split(",") if (word := normal(part))]


#: Families of food and drink.
FOOD = frozenset({"fresh", "chilled", "drink", "dry"})
Tiers = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ThingClass:
    """Things that belong in the same places. places: kinds of receptacles by rank. cues: see
    `things.toml`."""

    name: str
    family: str
    words: tuple[str, ...]
    cues: frozenset[str]
    places: Tiers


@dataclass(frozen=True, slots=True)
class ReceptacleKind:
    """A kind of receptacle. rooms: rooms that have it, likeliest first. use: 0–1, degree of use for
    storage."""

    name: str
    words: tuple[str, ...]
    rooms: tuple[str, ...]
    generic: tuple[str, ...]
    use: float


@dataclass(frozen=True, slots=True)
class State:
    """A state of things, and where things of each family belong in that state."""

    name: str
    words: tuple[str, ...]
    places: dict[str, Tiers]

    def of(self, family: str) -> Tiers | None:
        """The places for a family; `None` if the state changes nothing."""
        group = "food" if family in FOOD else family
        return self.places.get(family, self.places.get(group, self.places.get("other"))) or None


@dataclass(frozen=True)
class Household:
    """The tables. classes, kinds: by name. class_of, kind_of: word in normal form → name."""

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
            # A plural also defines its singular, unless that is in the table.
            for word, name in list(table.items()):
                before, _, last = word.rpartition(" ")
                table.setdefault(f"{before} {singular(last)}".strip(), name)


@lru_cache(maxsize=1)
def household() -> Household:
    """The tables in `data/household`."""
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
    read = _table("states")
    states = tuple(
        State(
            row["name"],
            tuple(listed(row["words"])),
            {key: _tiers(value) for key, value in row.items() if key not in ("name", "words")},
        )
        for row in read["state"]
    )
    shelf_stable = frozenset(listed(read["measures"]["shelf_stable"]))
    return Household(classes, kinds, states, shelf_stable)


def _table(name: str) -> dict[str, Any]:
    path = files("naisei") / "data" / "household" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _tiers(text: str) -> Tiers:
    ranks = ([k.strip() for k in rank.split(",") if k.strip()] for rank in text.split("|"))
    return tuple(tuple(rank) for rank in ranks if rank)


#: Kind of room → its names.
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
    """The kind of a room; its own name in normal form if unknown."""
    found = longest_ending(normal(name), _KIND_OF)
    return found[1] if found else normal(name)


#: Words after which the rest of a name only describes the thing further.
_AFTER = re.compile(r"\b(?:of|with|for|in|from)\b")
#: Measures and packages: a `shampoo bottle` is shampoo.
_PACKAGES = frozenset(
    listed(
        "bottle, box, can, jar, bag, carton, packet, pack, package, tube, container, tin, tub, "
        "roll, bunch, sack, stick, block, cube, piece, slice, leaf, pot, jug, set, case, bar"
    )
)
#: Packages in which food is shelf-stable.
_SEALED = frozenset({"can", "tin"})
_ROOM_WORDS = tuple(
    sorted({w for words in ROOMS.values() for w in listed(words)}, key=len, reverse=True)
)


@dataclass(frozen=True, slots=True)
class NamedThing:
    """Information in a thing's name. head: last word. kind: class in the table. family, state.
    places: by rank. cues: words in the name of a receptacle for it; empty if a state determines
    the place. plain: an unknown thing's name without state words. Unknown fields are empty."""

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
    """Information in a receptacle's name. kind: "" if unknown. sure: the full name is in the
    table, not only its last word. room: kind of its room. words: all but the last."""

    name: str
    kind: str
    room: str
    sure: bool
    words: frozenset[str]


@lru_cache(maxsize=4096)
def name_thing(name: str) -> NamedThing:
    """Look up a thing by its name."""
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
    """Where things of a class belong in a state."""
    found = next((s.of(of.family) for s in household().states if s.name == state), None)
    return found or of.places


def _packed(home: Household, text: str) -> tuple[str, str] | None:
    """The class of a thing in a package, such as `honey` in `honey bottle`, if the full name is
    unknown."""
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
    """The class of an earlier word in an unknown name, such as `dog` in `dog whatnot`."""
    words = text.split()
    for word in words[:-1]:
        for each in home.classes.values():
            if word in each.cues:
                return text, each.name
    return None


def _stated(home: Household, name: str, before: str, of: ThingClass | None) -> NamedThing:
    """Apply the state named in `before`, the words before the class."""
    head = normal(name).rpartition(" ")[2]
    family = of.family if of else ""
    padded = f" {before} "
    stable = family in FOOD and any(f" {m} of " in f"{padded}of " for m in home.shelf_stable)
    for state in home.states:
        if not _state_word(state, padded) and not (stable and state.name == "preserved"):
            continue
        if of is None:
            plain = padded.replace(f" {_state_word(state, padded)} ", " ").strip() or name
            # Waste is a class of its own.
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
    """Look up a receptacle by its name and room."""
    home, text, at = household(), normal(name), room_kind(room)
    words = frozenset(text.split()[:-1])
    bare = _without_room(text)
    if bare != text and (named_room := room_kind(text[: len(text) - len(bare)])) in ROOMS:
        at = named_room
    exact = next((home.kind_of[e] for e in (text, bare) if e in home.kind_of), None)
    local = _generic(home, bare, at)
    if local is not None and (exact is None or at not in home.kinds[exact].rooms):
        # Such as a `sink` in a bathroom or a `shelf` in a laundry room.
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
    """The kind of a general word such as `cabinet` in a kind of room."""
    fits = [
        (kind.rooms.index(room), kind.name)
        for kind in home.kinds.values()
        if head in kind.generic and room in kind.rooms
    ]
    return min(fits, key=lambda fit: fit[0])[1] if fits else None
