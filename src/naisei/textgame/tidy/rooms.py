"""Names of rooms, brought to the few kinds of rooms that houses have."""

from __future__ import annotations

from naisei.textgame.tidy.words import listed, longest_ending, normal

__all__ = ["ROOMS", "room_kind"]

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
