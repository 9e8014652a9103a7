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
    """The weight of a word that `count` of so many texts have; that of one text for 0."""
    n = max(1, count)
    return math.log(1 + (texts - n + 0.5) / (n + 0.5))


def saturated(
    counts: npt.NDArray[Any], lengths: npt.NDArray[Any], mean: float, *, k1: float, b: float
) -> npt.NDArray[Any]:
    """How much of a word's weight a text gets that has it `counts` times: 0 to 1, shape of both.

    lengths: words in each text; mean: of all texts. k1: how soon more of the same word counts no
    more; b: 0 to 1, how much the length counts.
    """
    return np.asarray(counts / (k1 * (1 - b + b * lengths / mean) + counts))
