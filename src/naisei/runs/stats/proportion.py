"""The interval of a share."""

from __future__ import annotations

import math

__all__ = ["wilson_interval"]


def wilson_interval(hits: int, n: int, *, z: float = 1.959963984540054) -> tuple[float, float]:
    """Bounds of the 95 % interval (for the default `z`) of a share `hits / n`; NaN for n = 0.

    Never empty, and within [0, 1], for shares of 0 and 1 too.
    Source: Wilson (1927), Journal of the American Statistical Association 22, 209–212.

    >>> [round(b, 3) for b in wilson_interval(0, 10)]
    [0.0, 0.278]
    """
    if n == 0:
        return math.nan, math.nan
    share = hits / n
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if hits == 0 else middle - reach
    return low, 1.0 if hits == n else middle + reach
