"""Which of several open directions a point was for: told by the games in which one was open.

Where an ingredient is to be diced and fried, its first point may be for either. Such points are
kept as puzzles (so many points, these commands, these directions) and explained anew from all
that is known, so that an early guess cannot speak for itself.

Source: expectation maximisation (Dempster, Laird and Rubin, J. R. Stat. Soc. B 39, 1977), from
the clear cases on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from math import prod

from naisei.textgame.learning.knowledge import Knowledge, Tally

__all__ = ["Credit"]

#: Before anything was seen: few commands are right for a direction, and those are right always.
_RIGHT, _WRONG = 0.1, 1.0
_ROUNDS = 12

_Pair = tuple[str, str]


class Credit:
    """The counts with their puzzles explained, as they are now."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._shares: dict[_Pair, tuple[float, float]] = {}
        self.changed()

    def changed(self) -> None:
        """The counts were raised: the puzzles are explained anew."""
        shares: dict[_Pair, tuple[float, float]] = {}
        puzzles = list(self._known.puzzle_counts())
        for _ in range(_ROUNDS if puzzles else 0):
            found: defaultdict[_Pair, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for goals, templates, times in puzzles:
                for pair, share in self._explained(goals, templates, shares).items():
                    # Where the point was for another direction, this one was not satisfied.
                    found[pair][0] += times * share
                    found[pair][1] += times * (1 - share)
            shares = {pair: (gained, failed) for pair, (gained, failed) in found.items()}
        self._shares = shares

    def counts(self, goal: str, template: str) -> tuple[float, float]:
        """How often the template brought the goal's point, and how often not."""
        return self._counts((goal, template), self._shares)

    def chances(self, goals: Sequence[str], templates: Sequence[str]) -> dict[str, float]:
        """Goal → how likely it is still open, after points for these templates."""
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
        """(goal, template) → the probability that the one's point was for the other; each
        template's point was for another goal."""
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
