"""The rule of the thesis' Table 4.2: the first sentence of each paragraph is emphasised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article

__all__ = ["FirstSentence"]


class FirstSentence:
    """Knows nothing and learns nothing; its probabilities are 0 and 1."""

    name = "rule.v1"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.array(row, np.float64) for row in self.labels(article)]

    def labels(self, article: Article) -> list[list[bool]]:
        seen: set[int] = set()
        out: list[list[bool]] = []
        for sentence in article.sentences:
            first = sentence.block not in seen
            out.append([first and can for can in sentence.counted])
            seen.add(sentence.block)
        return out
