"""Search by words: BM25 (Robertson & Zaragoza, 2009; Lucene's idf) over Sudachi's words."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from pathlib import Path

import bm25s  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

__all__ = ["WordIndex", "write_words"]

_FOLDER = "words"
_K1, _B = 1.2, 0.75


def write_words(directory: Path, texts: Iterable[list[str]]) -> int:
    """Writes the index of these texts' words, in their order; returns their number."""
    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(w, len(vocabulary)) for w in words] for words in texts]
    if not vocabulary:
        return len(rows)
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    model = bm25s.BM25(k1=_K1, b=_B, method="lucene")
    model.index((rows, vocabulary), create_empty_token=False, show_progress=False)
    model.save(directory / _FOLDER, show_progress=False)
    return len(rows)


class WordIndex:
    """A written index, its arrays mapped into memory."""

    def __init__(self, directory: Path, size: int) -> None:
        self.size = size
        folder = directory / _FOLDER
        self._model = bm25s.BM25.load(folder, mmap=True) if folder.is_dir() else None

    def scores(self, words: Iterable[str]) -> npt.NDArray[np.float32]:
        """Shape (size,): 0 for a text that shares no word with the query."""
        if self._model is None:
            return np.zeros(self.size, dtype=np.float32)
        known = self._model.vocab_dict
        numbers = [known[word] for word in dict.fromkeys(words) if word in known]
        if not numbers:
            return np.zeros(self.size, dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._model.get_scores_from_ids(numbers)
        return scores

    def matched(self, words: Iterable[str], row: int) -> float:
        """The share, 0 to 1, of these words' weight (idf) that a text has. Words that no text
        has weigh as much as the rarest do. NaN never: 0 where there are no words."""
        asked = list(dict.fromkeys(words))
        weights = [self._idf(word) for word in asked]
        whole = sum(weights)
        has = sum(w for word, w in zip(asked, weights, strict=True) if self._has(word, row))
        return has / whole if whole else 0.0

    def _postings(self, word: str) -> npt.NDArray[np.int32]:
        number = self._model.vocab_dict.get(word) if self._model is not None else None
        if self._model is None or number is None:
            return np.empty(0, dtype=np.int32)
        at = self._model.scores["indptr"]
        rows: npt.NDArray[np.int32] = self._model.scores["indices"][at[number] : at[number + 1]]
        return rows

    def _idf(self, word: str) -> float:
        n = max(1, len(self._postings(word)))
        return math.log(1 + (self.size - n + 0.5) / (n + 0.5))

    def _has(self, word: str, row: int) -> bool:
        return bool(np.any(self._postings(word) == row))
