"""BM25 with Lucene's word weights, for documents and memories.

Source: Robertson & Zaragoza, Foundations and Trends in Information Retrieval, 2009; Lucene's idf
and term frequency as in Kamphuis et al., ECIR 2020.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt


def idf(count: int, texts: int) -> float:
    """The weight of a word that occurs in `count` of the texts; a count of 0 is treated as 1."""
    n = max(1, count)
    return math.log(1 + (texts - n + 0.5) / (n + 0.5))


def saturated(
    counts: npt.NDArray[Any], lengths: npt.NDArray[Any], mean: float, *, k1: float, b: float
) -> npt.NDArray[Any]:
    """The share of a word's weight for a text that contains it `counts` times: 0 to 1, same shape.

    lengths: words in each text; mean: over all texts. k1: how slowly repetitions saturate; b: 0 to
    1, the strength of length normalisation.
    """
    return np.asarray(counts / (k1 * (1 - b + b * lengths / mean) + counts))
