"""Search by words: BM25 (Robertson & Zaragoza, 2009; Lucene's idf) over Sudachi's words."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import bm25s  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

__all__ = ["WordIndex", "write_words"]

_FOLDER = "words"
#: As is usual for passages (Anserini): chunks are of much the same length, and the headings that
#: are counted with them make a short one no better than a long one.
_K1, _B = 0.9, 0.4
#: What a word counts that stands for one of the query's.
_SYNONYM = 0.9


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
        self._numbers: dict[str, int] = {}
        if folder.is_dir():
            model = bm25s.BM25.load(folder, mmap=True)
            self._numbers = model.vocab_dict
            # Plain arrays on the same memory: slicing a memmap takes longer than adding it up.
            self._starts, self._rows, self._counted = (
                np.asarray(model.scores[name]) for name in ("indptr", "indices", "data")
            )

    def scores(
        self,
        words: Iterable[str],
        synonyms: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Shape (size,): 0 for a text that shares no word with the query.

        synonyms: some of the words, alone or together → what may stand for them. A text is given
        the best of them and not their sum: they are one thing that is asked for.
        """
        asked = dict.fromkeys(words)
        scores = self._sum(asked)
        for form, others in (synonyms or {}).items():
            own = self._sum(form)
            best = own.copy()
            for other in others:
                if new := [word for word in other if word not in asked]:
                    np.maximum(best, self._sum(new) * (_SYNONYM / len(other)), out=best)
            scores += best - own
        return scores

    def _sum(self, words: Iterable[str]) -> npt.NDArray[np.float32]:
        scores = np.zeros(self.size, dtype=np.float32)
        for word in words:
            rows, counted = self._postings(word)
            scores[rows] += counted
        return scores

    def matched(self, words: Iterable[str], row: int) -> float:
        """The share, 0 to 1, of these words' weight (idf) that a text has. Words that no text
        has weigh as much as the rarest do. NaN never: 0 where there are no words."""
        asked = list(dict.fromkeys(words))
        weights = [self._idf(word) for word in asked]
        whole = sum(weights)
        has = sum(w for word, w in zip(asked, weights, strict=True) if self._has(word, row))
        return has / whole if whole else 0.0

    def _postings(self, word: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """(rows that have the word, ascending; its score in each)."""
        number = self._numbers.get(word)
        if number is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        some = slice(int(self._starts[number]), int(self._starts[number + 1]))
        return self._rows[some], self._counted[some]

    def _idf(self, word: str) -> float:
        n = max(1, len(self._postings(word)[0]))
        return math.log(1 + (self.size - n + 0.5) / (n + 0.5))

    def _has(self, word: str, row: int) -> bool:
        rows = self._postings(word)[0]
        at = int(np.searchsorted(rows, row))
        return at < len(rows) and int(rows[at]) == row
