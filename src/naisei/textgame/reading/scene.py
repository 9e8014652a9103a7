"""What is here: exits, doors, things and where they lie, from the room's text and the candidates.

The candidates are what the engine lists as possible commands; they name every thing within
reach. Nothing else of the engine's knowledge is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.textgame.schemas import View

__all__ = ["DIRECTIONS", "OPPOSITE", "STEP", "Scene", "read_scene"]

DIRECTIONS = ("north", "south", "east", "west")
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
#: Direction → (east, north).
STEP = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
_DOOR = re.compile(
    r"\b(?:an?|the)?\s*(closed|open|opened|locked|shut)\s+([\w' -]+?)\s+leading\s+"
    r"(north|south|east|west)\b",
    re.I,
)
#: The same in the other order: `There is a frosted door, closed, leading west`.
_DOOR_AFTER = re.compile(
    r"\b(?:an?|the)\s+([\w' -]+?),?\s+(?:that is |which is )?(closed|open|locked),?\s+"
    r"(?:leading|to the)\s+(north|south|east|west)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Scene:
    """Facts of the moment.

    exits: directions that can be gone now. doors: direction → name of a door there.
    closed: what can be opened here, doors among it. lying: thing → what it lies on or in (empty
    for the floor), where it can be taken now. seen: everything within sight that can be
    examined. can: all candidates.
    """

    room: str
    exits: tuple[str, ...]
    doors: dict[str, str]
    closed: frozenset[str]
    lying: dict[str, str]
    seen: frozenset[str]
    can: frozenset[str]


def read_scene(view: View) -> Scene:
    """The facts of a view."""
    exits, closed, lying, seen = [], set(), {}, set()
    for command in view.candidates:
        verb, _, rest = command.partition(" ")
        if verb == "go" and rest in DIRECTIONS:
            exits.append(rest)
        elif verb == "open":
            closed.add(rest)
        elif verb == "take":
            thing, _, place = rest.partition(" from ")
            lying[thing] = place
        elif verb == "examine":
            seen.add(rest)
    return Scene(
        room=view.room,
        exits=tuple(exits),
        doors=_doors(view.description),
        closed=frozenset(closed),
        lying=lying,
        seen=frozenset(seen),
        can=frozenset(view.candidates),
    )


def _doors(description: str) -> dict[str, str]:
    found = {m[3].lower(): m[2].strip().lower() for m in _DOOR.finditer(description)}
    for m in _DOOR_AFTER.finditer(description):
        found.setdefault(m[3].lower(), m[1].strip().lower())
    return found
