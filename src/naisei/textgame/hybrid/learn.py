"""Learning the weights from walkthroughs: a conditional logit, by Adam, in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naisei.textgame.hybrid.kind import IDLE, LinearScorer, Weights, features
from naisei.textgame.trained.dataset import Choice

__all__ = ["learn", "top_one"]

#: Adam (Kingma and Ba 2015), algorithm 1.
_B1, _B2, _EPS = 0.9, 0.999, 1e-8


def learn(
    choices: Sequence[Choice], *, steps: int = 400, rate: float = 0.1, decay: float = 1e-4
) -> Weights:
    """The weights under which the walkthroughs' actions are likeliest among their candidates.

    decay: weight of the squared penalty. All choices count in every step; nothing is random.
    """
    names: dict[str, int] = {}
    rows: list[list[int]] = []
    starts: list[int] = []
    for choice in choices:
        if choice.action == IDLE:
            continue  # walkthroughs begin with it; it tells nothing
        starts.append(len(rows))
        actions = [a for a in (choice.action, *choice.others) if a != IDLE]
        rows += [
            [names.setdefault(name, len(names)) for name in own]
            for own in features(choice.state, actions)
        ]
    table = np.array(rows, np.int64)
    weights = _fit(table, np.array(starts), len(names), steps=steps, rate=rate, decay=decay)
    return Weights(
        of={name: round(float(weights[n]), 5) for name, n in names.items()},
        trained={"choices": len(choices), "features": len(names), "steps": steps},
    )


def _fit(
    table: NDArray[np.int64],
    starts: NDArray[np.int64],
    size: int,
    *,
    steps: int,
    rate: float,
    decay: float,
) -> NDArray[np.float64]:
    weights, first, second = (np.zeros(size) for _ in range(3))
    groups = np.diff(np.append(starts, len(table)))
    for step in range(1, steps + 1):
        values = weights[table].sum(1)
        values -= np.repeat(np.maximum.reduceat(values, starts), groups)
        odds = np.exp(values)
        error = odds / np.repeat(np.add.reduceat(odds, starts), groups)
        error[starts] -= 1.0
        summed = np.bincount(
            table.ravel(), weights=np.repeat(error, table.shape[1]), minlength=size
        )
        slope = summed / len(starts) + decay * weights
        first = _B1 * first + (1 - _B1) * slope
        second = _B2 * second + (1 - _B2) * slope**2
        weights -= rate * (first / (1 - _B1**step)) / (np.sqrt(second / (1 - _B2**step)) + _EPS)
    return weights


def top_one(weights: Weights, choices: Sequence[Choice]) -> float:
    """Share of choices in which no other candidate is rated as high as the walkthrough's."""
    scorer, right = LinearScorer(weights), 0
    for choice in choices:
        own, *others = scorer.values(choice.state, (choice.action, *choice.others))
        right += own > max(others)
    return right / len(choices) if choices else float("nan")
