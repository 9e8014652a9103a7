"""What a try is worth: Beta beliefs, drawn from while learning, their means when frozen.

Source of the drawing: Thompson, Biometrika 25 (1933), 285–294.
"""

from __future__ import annotations

from random import Random

from naisei.textgame.learning.credit import Credit
from naisei.textgame.learning.knowledge import Knowledge

__all__ = ["CURIOSITY", "END", "SURE", "Beliefs"]

#: The goal when no direction is left.
END = "<end>"
#: The goal of seeing commands that were never offered before.
CURIOSITY = "<curiosity>"
#: Beta counts of a try of which nothing is known: more things fail than not.
_GAINED, _FAILED = 1.0, 2.0
#: What a loss costs in points, to the cautious: the game is over, but a game in which nothing more
#: is dared has no more points either.
_LOSS = 0.25
#: A rule is sure from this mean on: it has worked at least as often as not.
SURE = 0.5


class Beliefs:
    """Over the counts as they are now. draw: with a seed, beliefs are drawn; `None` takes means.

    caution: a loss that a try may bring counts against it; otherwise only points count.
    """

    def __init__(self, known: Knowledge, *, draw: str | None, caution: bool) -> None:
        self.known, self._draw, self._caution = known, draw, caution
        #: Its `changed` is to be called when the counts were raised.
        self.credit = Credit(known)

    def mean(self, goal: str, template: str) -> float:
        """Probability that the template brings the goal's point."""
        a, b = self._counts(goal, template)
        return a / (a + b)

    def sure(self, goal: str, template: str) -> bool:
        return self.mean(goal, template) >= SURE

    def worth(self, goal: str, template: str, *, chance: float = 1.0) -> float:
        """Expected points less what losses cost (−1 to 1); without caution points alone.

        chance: that the goal is still open.
        """
        a, b = self._counts(goal, template)
        gain = a / (a + b)
        if self._draw is not None:
            # The same until something new is learned of the pair.
            gain = Random(f"{self._draw}/{goal}/{template}/{a:.1f}/{b:.1f}").betavariate(a, b)
        gain *= chance
        if not self._caution or goal == CURIOSITY:
            return gain
        return gain - _LOSS * (1 - gain) * self.harm(template)

    def harm(self, template: str) -> float:
        """How often the template loses the game where it brings no point, whatever the goal."""
        tallies = [rules[template] for rules in self.known.rules.values() if template in rules]
        lost, nothing = sum(t.lost for t in tallies), sum(t.nothing for t in tallies)
        return (1 + lost) / (2 + lost + nothing)

    def _counts(self, goal: str, template: str) -> tuple[float, float]:
        gained, failed = self.credit.counts(goal, template)
        return _GAINED + gained, _FAILED + failed
