"""Names of things, receptacles and rooms, brought to the kinds that the table knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from naisei.textgame.tidy.household import (
    FOOD,
    Household,
    State,
    ThingClass,
    Tiers,
    endings,
    household,
    listed,
    longest_ending,
    normal,
    singular,
)

__all__ = [
    "ROOMS",
    "NamedReceptacle",
    "NamedThing",
    "name_receptacle",
    "name_thing",
    "places_in_state",
    "room_kind",
]


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
        if not _said(state, padded) and not (stable and state.name == "preserved"):
            continue
        if of is None:
            plain = padded.replace(f" {_said(state, padded)} ", " ").strip() or name
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


def _said(state: State, padded: str) -> str:
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
