"""Texts of a game: formatting for display, and parsing of facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from naisei.lang import say
from naisei.runs.task import Digest
from naisei.textgame.schemas import LEAVE, GameResult, View

#: Characters of textworld's banner, and the status line after its prompt.
_BANNER = re.compile(r"^[\s$\\/|_>]*$")
#: Output that the engine inserts into a line.
_CENTRED = re.compile(r"^ {8,}(?=\S)", re.M)
_PROMPT = re.compile(r"\n\s*>\s*(?:-=.*)?\Z", re.S)
#: The interpreter's question after a game.
_AFTER_THE_END = re.compile(r"\n\s*Would you like to RESTART\b.*", re.S)


def readable(text: str) -> str:
    """The text without banner, prompt and extra empty lines."""
    lines = [line.rstrip() for line in _AFTER_THE_END.sub("", _PROMPT.sub("", text)).splitlines()]
    while lines and _BANNER.match(lines[0]):
        del lines[0]
    return re.sub(r"\n{3,}", "\n\n", _CENTRED.sub("", "\n".join(lines))).strip()


_ROOM = re.compile(r"-= [^=\n]+ =-")
_RULE = re.compile(r"[-=*_ ]*")
#: Final characters after which a line needs no separator.
_ENDED = (".", "!", "?", ":", ";", ",", "-")


def plain(text: str) -> str:
    """The text on one line, without the banner and the status line.

    List lines are joined by commas and paragraphs by full stops, so that a recipe stays one item.
    """
    return _joined((_joined(_lines(p), ", ") for p in readable(text).split("\n\n")), ". ")


def opening_words(feedback: str) -> str:
    """The game's text before the first room; usually states the objective."""
    return plain(_ROOM.split(readable(feedback), maxsplit=1)[0])


def _lines(paragraph: str) -> list[str]:
    lines = (" ".join(line.split()) for line in paragraph.splitlines())
    return [line for line in lines if not _RULE.fullmatch(line)]


def _joined(parts: Iterable[str], sign: str) -> str:
    text = ""
    for part in filter(None, parts):
        text += (" " if text.endswith(_ENDED) else sign if text else "") + part
    return text


def digest(result: Any) -> Digest:
    """Summary of a game for lists: its share of points and its ending."""
    played = GameResult.model_validate(result)
    value = played.score / played.max_score if played.max_score else float("nan")
    return Digest(value, ending(played))


def ending(result: GameResult) -> str:
    """One line that describes the ending."""
    steps = len(result.steps)
    how = (
        say("達成", "won")
        if result.won
        else say("失敗", "lost")
        if result.lost
        else say("途中で終了", "left")
        if result.gave_up == LEAVE
        else say(f"断念 ({result.gave_up})", f"gave up ({result.gave_up})")
        if result.gave_up
        else say("時間切れ", "out of steps")
    )
    return say(
        f"{how}: {result.score}/{result.max_score} 点、{steps} 手",
        f"{how}: {result.score} of {result.max_score} points in {steps} steps",
    )


#: Participle → the verb that a recipe uses.
CUT = {"sliced": "slice", "diced": "dice", "chopped": "chop"}
COOKED = {"fried": "fry", "roasted": "roast", "grilled": "grill", "burned": "burn"}
_STATES = {*CUT, *COOKED, "raw", "uncut"}
_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_ARTICLE = re.compile(r"^(?:an?|some|the)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Food:
    """A thing and its states. cut, cooked: the verb, or "". burned: cooked twice, hence useless for
    every recipe."""

    name: str
    cut: str = ""
    cooked: str = ""

    @property
    def burned(self) -> bool:
        return self.cooked == "burn"


def read_foods(inventory: str) -> dict[str, Food]:
    """Name → thing, from `You are carrying: a raw pork chop, some water and a knife.`

    Empty for `You are carrying nothing.` A name that contains ` and ` is read as two things.
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
    """A thing with its states, from `a sliced fried block of cheese`."""
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
    """The required states of an ingredient: verbs, or "" for unchanged."""

    name: str
    cut: str = ""
    cook: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Ingredients in the cookbook's order, and unrecognised directions."""

    needs: tuple[Need, ...]
    unknown: tuple[str, ...] = ()


def read_recipe(text: str) -> Recipe | None:
    """The recipe in an answer to `examine cookbook`; `None` without one."""
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
            break  # the end of the recipe
        else:
            unknown.append(line)
    needs = tuple(Need(name, cut.get(name, ""), cook.get(name, "")) for name in names)
    return Recipe(needs, tuple(unknown)) if needs else None


# The scene: exits, doors and things, from the room's text and the candidates.
#
# The candidates are the engine's possible commands; they name every thing within
# reach. No other engine data is used.

DIRECTIONS = ("north", "south", "east", "west")
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
#: Direction → (east, north).
STEP = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
_DOOR = re.compile(
    r"\b(?:an?|the)?\s*(closed|open|opened|locked|shut)\s+([\w' -]+?)\s+leading\s+"
    r"(north|south|east|west)\b",
    re.I,
)
#: In the other order: `There is a frosted door, closed, leading west`.
_DOOR_AFTER = re.compile(
    r"\b(?:an?|the)\s+([\w' -]+?),?\s+(?:that is |which is )?(closed|open|locked),?\s+"
    r"(?:leading|to the)\s+(north|south|east|west)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Scene:
    """Facts about the current state.

    exits: open directions. doors: direction → door. closed: what can be opened here, doors
    included. lying: takeable thing → what it is on or in ("": the floor). seen: everything that
    can be examined. can: all candidates.
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
