"""Word search: BM25 over words split by Sudachi."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.bm25 import idf, saturated
from naisei.japanese.sentences import related

_FOLDER = "words"
#: The offset of each word's entries; the text and the score of each entry.
_STARTS_OF_WORDS, _ROWS, _SCORES = "starts.npy", "rows.npy", "scores.npy"
_VOCABULARY = "vocabulary.json"
#: Usual values for passages (Anserini): chunks have similar lengths, and the headings counted with
#: them should not favour short ones.
_K1, _B = 0.9, 0.4
#: Weight of a synonym of a query word.
_SYNONYM = 0.9


def write_words(directory: Path, texts: Iterable[list[str]]) -> int:
    """Write a word index of these texts, in order. Returns the number of texts."""
    vocabulary: dict[str, int] = {}
    # One entry per word and text (word, text, count), and the length of each text.
    numbers, rows, counts, lengths = array("i"), array("i"), array("i"), array("i")
    for row, words in enumerate(texts):
        lengths.append(len(words))
        for word, count in Counter(words).items():
            numbers.append(vocabulary.setdefault(word, len(vocabulary)))
            rows.append(row)
            counts.append(count)
    order = np.argsort(numbers, kind="stable")
    at, often = np.array(rows, dtype=np.int32)[order], np.array(counts)[order]
    having = np.bincount(numbers, minlength=len(vocabulary))
    size = np.array(lengths, dtype=np.float64)
    scores = saturated(often, size[at], size.mean() if len(size) else 1.0, k1=_K1, b=_B)
    weights = np.array([idf(int(n), len(size)) for n in having], dtype=np.float32)
    folder = directory / _FOLDER
    folder.mkdir()
    np.save(folder / _ROWS, at)
    np.save(folder / _STARTS_OF_WORDS, np.concatenate([[0], np.cumsum(having)]))
    np.save(folder / _SCORES, (scores * np.repeat(weights, having)).astype(np.float32))
    names = json.dumps(list(vocabulary), ensure_ascii=False)
    (folder / _VOCABULARY).write_text(names, encoding="utf-8", errors="surrogatepass")
    return len(lengths)


class WordIndex:
    """A stored index with memory-mapped arrays. size: number of texts. only: the visible texts, in
    order; all by default. Word counts then use only those; the mean length, by which long texts
    count less, uses all texts."""

    def __init__(
        self, directory: Path, size: int, only: npt.NDArray[np.int64] | None = None
    ) -> None:
        self._whole, self.size = size, size if only is None else len(only)
        self._places: npt.NDArray[np.int32] | None = None
        if only is not None:
            self._places = np.full(size, -1, dtype=np.int32)
            self._places[only] = np.arange(len(only))
        folder = directory / _FOLDER
        names = (folder / _VOCABULARY).read_text(encoding="utf-8", errors="surrogatepass")
        self._numbers: dict[str, int] = {word: n for n, word in enumerate(json.loads(names))}
        # Plain arrays on the same memory: slicing a memmap takes longer than summing it.
        self._starts, self._rows, self._counted = (
            np.asarray(np.load(folder / name, mmap_mode="r"))
            for name in (_STARTS_OF_WORDS, _ROWS, _SCORES)
        )

    def vocabulary(self) -> tuple[str, ...]:
        return tuple(word for word in self._numbers if len(self._postings(word)[0]))

    def scores(
        self,
        words: Iterable[str],
        synonyms: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Shape (size,): 0 for a text that shares no word with the query.

        synonyms: maps a word or several words to synonyms. Only the best synonym counts, not the
        sum.
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

    def possible(self, words: Iterable[str]) -> float:
        """The score of an ideal text: the sum of each word's best score in any text. A word in no
        text counts like the rarest words."""
        most = [self._most(word) for word in dict.fromkeys(words)]
        rarest = max(most, default=0.0)
        return sum(value or rarest for value in most)

    def covered(self, words: Iterable[str], rows: Sequence[int]) -> npt.NDArray[np.float32]:
        """The share, 0 to 1, of these words' weight (idf) that each text contains, as the words
        themselves or as related words (`related`). Shape (rows,); 0 if there are no words."""
        at = np.asarray(rows, dtype=np.int64)
        found = np.zeros(len(at), dtype=np.float32)
        whole = 0.0
        for word in dict.fromkeys(words):
            held = np.isin(at, self._postings(word)[0]).astype(np.float32)
            for other, part in related([word]).items():
                np.maximum(held, part * np.isin(at, self._postings(other)[0]), out=held)
            weight = self._idf(word)
            found += np.float32(weight) * held
            whole += weight
        return found / np.float32(whole) if whole else found

    def _postings(self, word: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """(rows that contain the word, ascending; its score in each)."""
        number = self._numbers.get(word)
        if number is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        some = slice(int(self._starts[number]), int(self._starts[number + 1]))
        rows, counted = self._rows[some], self._counted[some]
        if self._places is None:
            return rows, counted
        seen = self._places[rows] >= 0
        share = idf(int(seen.sum()), self.size) / idf(len(rows), self._whole)
        return self._places[rows[seen]], counted[seen] * np.float32(share)

    def _most(self, word: str) -> float:
        return float(self._postings(word)[1].max(initial=0.0))

    def _idf(self, word: str) -> float:
        return idf(len(self._postings(word)[0]), self.size)
