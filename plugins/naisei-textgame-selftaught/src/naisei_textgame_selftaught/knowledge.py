"""Counts of command templates from play, in a small file, and beliefs derived from them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from pathlib import Path
from random import Random

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text
from naisei.textgame.planner.explore import Prior

_LINE = re.compile(r"^(\w+)\s+(?:the\s+)?(.+?)\.?$")


@dataclass(frozen=True, slots=True)
class Assignment:
    """needs: ingredients. directions: (verb, ingredient). closing: (verb, dish), the directions
    without ingredient, in order."""

    needs: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    closing: tuple[tuple[str, str], ...]


def read_assignment(text: str) -> Assignment | None:
    """The assignment in an answer to reading the cookbook; `None` without a recipe."""
    _, found, rest = text.partition("Ingredients:")
    listed, directed, steps = rest.partition("Directions:")
    if not (found and directed):
        return None
    needs = tuple(line.strip() for line in listed.splitlines() if line.strip())
    directions: list[tuple[str, str]] = []
    closing: list[tuple[str, str]] = []
    for line in steps.strip().splitlines():
        if not line.strip():
            break  # the end of the directions
        if step := _LINE.match(line.strip()):
            (directions if step[2] in needs else closing).append((step[1], step[2]))
    return Assignment(needs, tuple(directions), tuple(closing)) if needs else None


#: Roles that replace names in a template.
NEEDED, DISH, OTHER, FIXED, HOLDER = "NEEDED", "DISH", "OTHER", "FIXED", "HOLDER"
#: Prepositions of movement, whose objects are irrelevant; *with* names an instrument.
_SECOND = re.compile(r" (with|from|on|into|in) ")


@dataclass(frozen=True, slots=True)
class Roles:
    """needed: ingredients. dishes: other things in directions. portable: everything that was held
    or takeable."""

    needed: Collection[str]
    dishes: Collection[str]
    portable: Collection[str]

    def template(self, command: str) -> tuple[str, str]:
        """(template, thing) of a command: `cook red apple with stove` → `("cook NEEDED with stove",
        "red apple")`. The thing is "" if there is none."""
        verb, _, rest = command.partition(" ")
        if not rest:
            return verb, ""
        if verb == "go":
            return "go", ""
        parts = _SECOND.split(rest, maxsplit=1)
        thing, role = parts[0], self._role(parts[0])
        if len(parts) == 1:
            return f"{verb} {role}", thing
        second = parts[2] if parts[1] == "with" else HOLDER
        return f"{verb} {role} {parts[1]} {second}", thing

    def _role(self, thing: str) -> str:
        if thing in self.needed:
            return NEEDED
        if thing in self.dishes:
            return DISH
        return OTHER if thing in self.portable else FIXED


def instrument(template: str) -> str:
    """The instrument of a template; "" if none."""
    return template.partition(" with ")[2]


def matching(roles: Roles, commands: Iterable[str], template: str, thing: str) -> str:
    """The first command of the template about the thing; "" if none."""
    return next((c for c in sorted(commands) if roles.template(c) == (template, thing)), "")


VERSION = 1
_SEPARATOR = "|"


class _Counts(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Tally(_Counts):
    """How often a command brought a point, lost the game, or neither, where its direction was
    clear. Ambiguous failures are shared among directions; ambiguous points are `puzzles`."""

    gained: float = Field(default=0, ge=0)
    lost: float = Field(default=0, ge=0)
    nothing: float = Field(default=0, ge=0)


class Offer(_Counts):
    """How often a command was offered, how often with its instrument held, and in which rooms."""

    times: int = 0
    held: int = 0
    rooms: dict[str, int] = {}


class Knowledge(_Counts):
    """version: of the format. games: number played. seed, caution: how it was learned.

    rules: goal → template → tally; a goal is a direction's verb, or one of `beliefs`. puzzles:
    goals open on an ingredient → templates that brought points on it → count (both joined by `|`);
    the assignment is left open (`Credit`). marks: verb → word → times it newly preceded an
    ingredient's name after the direction's point. offers: template → offers. limits: number of
    ingredients → things held when no more could be taken → count. houses: rooms and places of
    things.
    """

    version: int = VERSION
    games: int = 0
    seed: int = 0
    caution: bool = True
    rules: dict[str, dict[str, Tally]] = {}
    puzzles: dict[str, dict[str, int]] = {}
    marks: dict[str, dict[str, int]] = {}
    offers: dict[str, Offer] = {}
    limits: dict[str, dict[str, int]] = {}
    houses: Prior = Field(default_factory=Prior)

    def tally(self, goal: str, template: str) -> Tally:
        """The mutable counts of a pair."""
        return self.rules.setdefault(goal, {}).setdefault(template, Tally())

    def puzzle(self, goals: Sequence[str], templates: Sequence[str], times: int) -> None:
        """Count a puzzle `times` more; −1 removes one."""
        row = self.puzzles.setdefault(_SEPARATOR.join(goals), {})
        name = _SEPARATOR.join(templates)
        row[name] = row.get(name, 0) + times
        if not row[name]:
            del row[name]

    def puzzle_counts(self) -> Iterator[tuple[list[str], list[str], int]]:
        """All puzzles as (goals, templates, times)."""
        for goals, row in self.puzzles.items():
            for templates, times in row.items():
                yield goals.split(_SEPARATOR), templates.split(_SEPARATOR), times

    def text(self) -> str:
        """The content of the file."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True) + "\n"


def load(path: Path) -> Knowledge:
    """Raises:
    InputError: no such file, or it holds no knowledge of this version.
    """
    remedy = say(
        "naisei self-taught learn --games DIR --out FILE で作れます",
        "naisei self-taught learn --games DIR --out FILE makes one",
    )
    text = read_text(path, remedy=remedy)
    try:
        known = Knowledge.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            say("学んだことのファイルではありません: ", "this is no learned knowledge: ")
            + error.errors()[0]["msg"],
            place=str(path),
            remedy=remedy,
        ) from None
    if known.version != VERSION:
        raise InputError(
            say(
                f"ファイルのバージョンが {known.version} です。読めるのは {VERSION} です",
                f"the knowledge is of version {known.version}, and {VERSION} is read",
            ),
            place=str(path),
            remedy=remedy,
        )
    return known


# Which of several open directions a point was for, inferred from games with only one open.
#
# If an ingredient must be diced and fried, its first point may be for either. Such points are
# stored as puzzles (number of points, commands, directions) and re-estimated from all
# data, so that an early guess cannot confirm itself.
#
# Source: expectation maximisation (Dempster, Laird and Rubin, J. R. Stat. Soc. B 39, 1977), from
# started from the clear cases.

#: Prior: few commands satisfy a direction, but those always do.
_RIGHT, _WRONG = 0.1, 1.0
_ROUNDS = 12

_Pair = tuple[str, str]


class Credit:
    """The counts with puzzles resolved."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._shares: dict[_Pair, tuple[float, float]] = {}
        self.changed()

    def changed(self) -> None:
        """Call after counts changed; puzzles are then resolved again."""
        shares: dict[_Pair, tuple[float, float]] = {}
        puzzles = list(self._known.puzzle_counts())
        for _ in range(_ROUNDS if puzzles else 0):
            found: defaultdict[_Pair, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for goals, templates, times in puzzles:
                for pair, share in self._explained(goals, templates, shares).items():
                    # If the point was for another direction, this one failed.
                    found[pair][0] += times * share
                    found[pair][1] += times * (1 - share)
            shares = {pair: (gained, failed) for pair, (gained, failed) in found.items()}
        self._shares = shares

    def counts(self, goal: str, template: str) -> tuple[float, float]:
        """(successes, failures) of a template for a goal."""
        return self._counts((goal, template), self._shares)

    def chances(self, goals: Sequence[str], templates: Sequence[str]) -> dict[str, float]:
        """Goal → probability that it is still open after points for these templates."""
        explained = self._explained(goals, templates, self._shares)
        return {
            goal: max(0.0, 1 - sum(explained[goal, template] for template in templates))
            for goal in goals
        }

    def _explained(
        self,
        goals: Sequence[str],
        templates: Sequence[str],
        shares: Mapping[_Pair, tuple[float, float]],
    ) -> dict[_Pair, float]:
        """(goal, template) → probability that the template's point was for the goal; each template
        has a different goal."""
        likely: dict[_Pair, float] = {}
        for goal in goals:
            for template in templates:
                right, wrong = self._counts((goal, template), shares)
                likely[goal, template] = (_RIGHT + right) / (_RIGHT + _WRONG + right + wrong)
        result = dict.fromkeys(likely, 0.0)
        ways = [
            (list(zip(chosen, templates, strict=True)))
            for chosen in permutations(goals, len(templates))
        ]
        weights = [prod(likely[pair] for pair in way) for way in ways]
        for way, weight in zip(ways, weights, strict=True):
            for pair in way:
                result[pair] += weight / sum(weights)
        return result

    def _counts(
        self, pair: _Pair, shares: Mapping[_Pair, tuple[float, float]]
    ) -> tuple[float, float]:
        goal, template = pair
        clear = self._known.rules.get(goal, {}).get(template, Tally())
        gained, failed = shares.get(pair, (0.0, 0.0))
        return clear.gained + gained, clear.lost + clear.nothing + failed


# The value of a try: Beta beliefs, sampled while learning, means when frozen.
#
# Source: Thompson sampling, Biometrika 25 (1933), 285–294.

#: The goal after all directions.
END = "<end>"
#: The goal of getting new kinds of commands.
CURIOSITY = "<curiosity>"
#: Beta prior of an unknown try: most fail.
_GAINED, _FAILED = 1.0, 2.0
#: Cost of a loss in points with caution: the game is over, but a game without further tries
#: has no more points either.
_LOSS = 0.25
#: Least mean of a sure rule.
SURE = 0.5


class Beliefs:
    """Beliefs over the counts. draw: seed to sample them; `None` uses means.

    caution: subtract the cost of possible losses.
    """

    def __init__(self, known: Knowledge, *, draw: str | None, caution: bool) -> None:
        self.known, self._draw, self._caution = known, draw, caution
        #: Call its `changed` after counts changed.
        self.credit = Credit(known)

    def mean(self, goal: str, template: str) -> float:
        """Probability that the template brings the goal's point."""
        a, b = self._counts(goal, template)
        return a / (a + b)

    def sure(self, goal: str, template: str) -> bool:
        return self.mean(goal, template) >= SURE

    def worth(self, goal: str, template: str, *, chance: float = 1.0) -> float:
        """Expected points minus expected losses (−1 to 1); points only without caution.

        chance: probability that the goal is open.
        """
        a, b = self._counts(goal, template)
        gain = a / (a + b)
        if self._draw is not None:
            # Constant until the pair's counts change.
            gain = Random(f"{self._draw}/{goal}/{template}/{a:.1f}/{b:.1f}").betavariate(a, b)
        gain *= chance
        if not self._caution or goal == CURIOSITY:
            return gain
        return gain - _LOSS * (1 - gain) * self.harm(template)

    def harm(self, template: str) -> float:
        """Rate at which the template loses the game when it brings no point, over all goals."""
        tallies = [rules[template] for rules in self.known.rules.values() if template in rules]
        lost, nothing = sum(t.lost for t in tallies), sum(t.nothing for t in tallies)
        return (1 + lost) / (2 + lost + nothing)

    def _counts(self, goal: str, template: str) -> tuple[float, float]:
        gained, failed = self.credit.counts(goal, template)
        return _GAINED + gained, _FAILED + failed
