"""UCB1 over the actions of a state, so that no action is repeated while others are untried.

Source: the text-game thesis, §5.2.4, equation 5.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt

from naisei.textgame.schemas import View
from naisei.textgame.trained.labels import is_processing

__all__ = [
    "UNTRIED",
    "State",
    "Visits",
    "best",
    "faded_values",
    "plain_values",
    "state_of",
    "ucb1",
    "ucb_values",
]

#: What an action gains that was never chosen in a state.
UNTRIED = 5.0

#: What counts as the same state: the room, the points (see `state_of`), what is to be seen.
State = tuple[str, str, str]


def state_of(view: View, *, recipe: bool) -> State:
    """Two moments are one state if room and description read the same and, once the recipe is
    known, as many points were won.

    The thesis leaves it open. The step is no part of it, or no state would ever return; neither is
    the cookbook, so that it is not read over and over. Points tell that something was achieved,
    after which what was tried may be right. What is held tells less: if it counted, every room
    would be new when anything is taken or dropped, and a player that misses an ingredient would
    take and drop what it has, in every order, before it looks elsewhere.
    """
    return (view.room, str(view.score) if recipe else "", view.description)


def ucb1(mean: float, chosen: int, total: int) -> float:
    """Equation 5.1. mean: the scorer's output, 0–1. chosen: how often the action was, in this
    state. total: how often any was; at least `chosen`."""
    if chosen == 0:
        return mean + UNTRIED
    return mean + sqrt(2 * log(total) / chosen)


def ucb_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → value. penalties: choices that are counted though they were not made; they count
    in the total as well, so that it is never less than its parts."""
    counts = {action: chosen.get(action, 0) + penalties.get(action, 0) for action in scores}
    total = sum(counts.values())
    return {action: ucb1(score, counts[action], total) for action, score in scores.items()}


def faded_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → its score, a tenth of it for every time that it was chosen.

    Not in the thesis: equation 5.1 tries everything once before it repeats anything; here what
    was tried waits only for what is rated nearly as high.
    """
    return {
        action: score * 0.1 ** (chosen.get(action, 0) + penalties.get(action, 0))
        for action, score in scores.items()
    }


def plain_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """The scores."""
    return dict(scores)


class Visits:
    """How often each action was chosen: by state, but cooking and cutting in the whole game.

    What cannot be undone makes every later state another one, in which it would be untried: tried
    once in each, food would be cooked twice, and that ends the game.
    """

    def __init__(self) -> None:
        self._of: dict[State, Counter[str]] = {}
        self._for_good: Counter[str] = Counter()

    def of(self, state: State) -> Mapping[str, int]:
        return self._of.get(state, Counter()) + self._for_good

    def add(self, state: State, action: str) -> None:
        counter = self._for_good if is_processing(action) else self._of.setdefault(state, Counter())
        counter[action] += 1


def best(values: Mapping[str, float], order: Sequence[str]) -> str:
    """The action of the highest value; of several, the first in `order`."""
    return max(order, key=lambda action: values[action])
