"""From the texts of a game to facts: what is here, what is held, what the cookbook asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.textgame.schemas import View

__all__ = [
    "COOKED",
    "CUT",
    "DIRECTIONS",
    "OPPOSITE",
    "STEP",
    "Food",
    "Need",
    "Recipe",
    "Scene",
    "read_foods",
    "read_recipe",
    "read_scene",
    "read_states",
]


#: Participle → the verb that a recipe uses.
CUT = {"sliced": "slice", "diced": "dice", "chopped": "chop"}
COOKED = {"fried": "fry", "roasted": "roast", "grilled": "grill", "burned": "burn"}
_STATES = {*CUT, *COOKED, "raw", "uncut"}
_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_ARTICLE = re.compile(r"^(?:an?|some|the)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Food:
    """A thing and its states. cut, cooked: the verb of what was done to it, or empty.

    burned: it was cooked twice, and no recipe can use it any more.
    """

    name: str
    cut: str = ""
    cooked: str = ""

    @property
    def burned(self) -> bool:
        return self.cooked == "burn"


def read_foods(inventory: str) -> dict[str, Food]:
    """Name → thing, from `You are carrying: a raw pork chop, some water and a knife.`

    Empty for `You are carrying nothing.` A name that itself holds ` and ` is not told apart from
    two things.
    """
    _, colon, listed = inventory.partition(":")
    if not colon:
        return {}
    found = {}
    for phrase in _SEPARATOR.split(listed.strip().rstrip(".")):
        if phrase.strip():
            food = read_states(phrase.strip())
            found[food.name] = food
    return found


def read_states(phrase: str) -> Food:
    """One thing with its states, from `a sliced fried block of cheese`."""
    words = _ARTICLE.sub("", phrase.strip()).split()
    cut = cooked = ""
    while len(words) > 1 and words[0] in _STATES:
        state = words.pop(0)
        cut = CUT.get(state, cut)
        cooked = COOKED.get(state, cooked)
    return Food(" ".join(words), cut, cooked)


_STEP = re.compile(r"^(\w+) the (.+)$")
_CUTS, _COOKS = set(CUT.values()), set(COOKED.values()) - {"burn"}


@dataclass(frozen=True, slots=True)
class Need:
    """How one ingredient has to be: verbs, or empty where it stays as it is."""

    name: str
    cut: str = ""
    cook: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The ingredients in the cookbook's order, and directions that were not understood."""

    needs: tuple[Need, ...]
    unknown: tuple[str, ...] = ()


def read_recipe(text: str) -> Recipe | None:
    """The recipe in the answer to `examine cookbook`; `None` if there is none in it."""
    _, found, rest = text.partition("Ingredients:")
    listed, directed, steps = rest.partition("Directions:")
    if not (found and directed):
        return None
    names = [line.strip() for line in listed.splitlines() if line.strip()]
    cut: dict[str, str] = {}
    cook: dict[str, str] = {}
    unknown = []
    for line in (line.strip() for line in steps.splitlines() if line.strip()):
        step = _STEP.match(line)
        if step and step[2] in names and step[1] in _CUTS:
            cut[step[2]] = step[1]
        elif step and step[2] in names and step[1] in _COOKS:
            cook[step[2]] = step[1]
        elif line.rstrip(".") == "prepare meal":
            break  # what follows is no direction of the recipe
        else:
            unknown.append(line)
    needs = tuple(Need(name, cut.get(name, ""), cook.get(name, "")) for name in names)
    return Recipe(needs, tuple(unknown)) if needs else None


# What is here: exits, doors, things and where they lie, from the room's text and the candidates.
#
# The candidates are what the engine lists as possible commands; they name every thing within
# reach. Nothing else of the engine's knowledge is used.

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
