"""Limited-memory BFGS with a backtracking line search, in numpy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Minimum", "minimise"]

Floats = NDArray[np.float64]
_SUFFICIENT, _TRIES = 1e-4, 30


@dataclass(frozen=True, slots=True)
class Minimum:
    """at: where it was found. value: the objective there. steps: iterations made.

    converged: the slope or the gain fell below the tolerance; otherwise `steps` ran out.
    """

    at: Floats
    value: float
    steps: int
    converged: bool


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    steps: int = 100,
    memory: int = 8,
    tolerance: float = 1e-4,
) -> Minimum:
    """A minimum of a smooth function, by Nocedal & Wright (2006), algorithm 7.5.

    objective: gives value and gradient at a point. tolerance: stop when the gradient's
    largest component is below it times max(1, |value|), or when ten steps together gain
    less than that share of the value. Deterministic.
    """
    x = np.asarray(start, np.float64).copy()
    value, slope = objective(x)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
    past: deque[float] = deque([value], maxlen=11)
    for step in range(steps):
        scale = max(1.0, abs(value))
        if float(np.abs(slope).max(initial=0.0)) <= tolerance * scale:
            return Minimum(x, value, step, True)
        if len(past) == past.maxlen and past[0] - value <= tolerance * scale:
            return Minimum(x, value, step, True)
        direction = _direction(slope, pairs)
        downhill = float(direction @ slope)
        if downhill >= 0:
            pairs.clear()
            direction = -slope
            downhill = -float(slope @ slope)
        size = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(slope).sum()))
        for _ in range(_TRIES):
            there = x + size * direction
            new_value, new_slope = objective(there)
            if new_value <= value + _SUFFICIENT * size * downhill:
                break
            size *= 0.5
        else:
            # No step gains anything any more: this is as low as rounding allows.
            return Minimum(x, value, step, True)
        moved, turned = there - x, new_slope - slope
        if (curve := float(moved @ turned)) > 1e-10 * float(turned @ turned):
            pairs.append((moved, turned, 1.0 / curve))
        x, value, slope = there, new_value, new_slope
        past.append(value)
    return Minimum(x, value, steps, False)


def _direction(slope: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    q = -slope
    shares: list[float] = []
    for moved, turned, inverse in reversed(pairs):
        shares.append(share := inverse * float(moved @ q))
        q = q - share * turned
    if pairs:
        moved, turned, _ = pairs[-1]
        q = q * (float(moved @ turned) / float(turned @ turned))
    for (moved, turned, inverse), share in zip(pairs, reversed(shares), strict=True):
        q = q + (share - inverse * float(turned @ q)) * moved
    return q
