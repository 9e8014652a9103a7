"""Search by words (BM25) and by meaning (unit vectors of chunks and of the sentences in them).

Words: Robertson & Zaragoza, 2009, with Lucene's idf, over Sudachi's words. Meaning: a question is
mostly answered by one sentence, or one row of a table, and what stands around it draws the vector
of a whole chunk away from it. Candidates are therefore ranked by their nearest sentence: passages
as near as the best of their spans, MaxP of Dai & Callan, SIGIR 2019, with cosines. Sentence
vectors stay on the disk: one byte a number, mapped into memory.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from naisei.bm25 import idf, saturated
from naisei.japanese.sentences import related
from naisei.models.base import Embedder, PassageEmbedder
from naisei.retrieval.chunking import embedding_text, path_of, sentence_units, span_text
from naisei.similarity import Floats, cosines, unit

if TYPE_CHECKING:
    from naisei.retrieval.store import Store

_FOLDER = "words"
#: Of each word where its entries begin; then of each entry the text and the score.
_STARTS_OF_WORDS, _ROWS, _SCORES = "starts.npy", "rows.npy", "scores.npy"
_VOCABULARY = "vocabulary.json"
#: As is usual for passages (Anserini): chunks are of much the same length, and the headings that
#: are counted with them make a short one no better than a long one.
_K1, _B = 0.9, 0.4
#: What a word counts that stands for one of the query's.
_SYNONYM = 0.9


def write_words(directory: Path, texts: Iterable[list[str]]) -> int:
    """Writes the index of these texts' words, in their order; returns their number."""
    vocabulary: dict[str, int] = {}
    # An entry a word of a text: which word, of which text, how often; by text the length.
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
    """A written index, its arrays mapped into memory."""

    def __init__(self, directory: Path, size: int) -> None:
        self.size = size
        folder = directory / _FOLDER
        names = (folder / _VOCABULARY).read_text(encoding="utf-8", errors="surrogatepass")
        self._numbers: dict[str, int] = {word: n for n, word in enumerate(json.loads(names))}
        # Plain arrays on the same memory: slicing a memmap takes longer than adding it up.
        self._starts, self._rows, self._counted = (
            np.asarray(np.load(folder / name, mmap_mode="r"))
            for name in (_STARTS_OF_WORDS, _ROWS, _SCORES)
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

    def possible(self, words: Iterable[str]) -> float:
        """What a text would be given that has all of these words: the best that any text is given
        for each, summed. A word that no text has counts as the rarest of them do."""
        most = [self._most(word) for word in dict.fromkeys(words)]
        rarest = max(most, default=0.0)
        return sum(value or rarest for value in most)

    def matched(self, words: Iterable[str], row: int) -> float:
        """The share, 0 to 1, of these words' weight (idf) that a text has. Words that no text
        has weigh as much as the rarest do. NaN never: 0 where there are no words."""
        asked = list(dict.fromkeys(words))
        weights = [self._idf(word) for word in asked]
        whole = sum(weights)
        has = sum(w for word, w in zip(asked, weights, strict=True) if self._has(word, row))
        return has / whole if whole else 0.0

    def covered(self, words: Iterable[str], rows: Sequence[int]) -> npt.NDArray[np.float32]:
        """The share, 0 to 1, of these words' weight (idf) that each of the texts holds, by itself
        or by what may stand for it (`related`). Shape (rows,); 0 where there are no words."""
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
        """(rows that have the word, ascending; its score in each)."""
        number = self._numbers.get(word)
        if number is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        some = slice(int(self._starts[number]), int(self._starts[number + 1]))
        return self._rows[some], self._counted[some]

    def _most(self, word: str) -> float:
        return float(self._postings(word)[1].max(initial=0.0))

    def _idf(self, word: str) -> float:
        return idf(len(self._postings(word)[0]), self.size)

    def _has(self, word: str, row: int) -> bool:
        rows = self._postings(word)[0]
        at = int(np.searchsorted(rows, row))
        return at < len(rows) and int(rows[at]) == row


_FILE = "vectors.npy"


def write_vectors(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """The vectors of the chunks with these keys, in their order."""
    if not keys:
        return
    shape = (len(keys), model.dim)
    rows = np.lib.format.open_memmap(folder / _FILE, mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, len(keys), 1000):
        some = keys[start : start + 1000]
        found = store.vectors(model.name, some)
        rows[start : start + len(some)] = np.stack([found[key] for key in some])
    rows.flush()


class VectorIndex:
    """Written vectors, mapped into memory; all are compared: for 100,000 of them 18 ms of
    processor time.

    only: the rows that are seen, in order; all by default."""

    def __init__(self, folder: Path, only: npt.NDArray[np.int64] | None = None) -> None:
        path = folder / _FILE
        self._only = only
        self._rows: npt.NDArray[np.float32] | None = (
            np.asarray(np.load(path, mmap_mode="r")) if path.is_file() else None
        )

    @property
    def rows(self) -> npt.NDArray[np.float32] | None:
        """One a chunk; `None` without vectors, or where a part is seen."""
        return self._rows if self._only is None else None

    def scores(self, query: npt.NDArray[np.float32]) -> Floats:
        """Cosines with a vector, shape (chunks,)."""
        if self._rows is None:
            return np.zeros(0)
        scores = cosines(self._rows, query)
        return scores if self._only is None else scores[self._only]


_VECTORS, _SCALES, _STARTS = "spans.npy", "span_scales.npy", "span_starts.npy"
_SCALE = np.dtype("<f4")


def packed(vectors: npt.NDArray[np.float32]) -> bytes:
    """Rows in 8 bits a number: the rows' scales, then the rows. Cosines change by about 0.001."""
    scales = np.abs(vectors).max(axis=1, initial=1e-9).astype(_SCALE) / np.float32(127)
    rows = np.rint(vectors / scales[:, None]).astype(np.int8)
    return b"".join([scales.astype(_SCALE).tobytes(), rows.tobytes()])


def write_spans(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """The sentences of the chunks with these keys, in their order."""
    width = _SCALE.itemsize + model.dim
    # Two passes, so that no more than one chunk's sentences are held at a time.
    counts = [len(blob) // width for blob in store.spans(model.name, keys)]
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
    if starts[-1] == 0:
        return
    shape = (int(starts[-1]), model.dim)
    rows = np.lib.format.open_memmap(folder / _VECTORS, mode="w+", dtype=np.int8, shape=shape)
    scales = np.empty(shape[0], dtype=_SCALE)
    for start, count, blob in zip(starts, counts, store.spans(model.name, keys), strict=False):
        cut = count * _SCALE.itemsize
        scales[start : start + count] = np.frombuffer(blob[:cut], dtype=_SCALE)
        rows[start : start + count] = np.frombuffer(blob[cut:], dtype=np.int8).reshape(
            count, model.dim
        )
    rows.flush()
    np.save(folder / _SCALES, scales)
    np.save(folder / _STARTS, starts)


class SpanIndex:
    """Written sentences; none in an index of one-sentence chunks. only: as in `VectorIndex`."""

    def __init__(self, folder: Path, only: npt.NDArray[np.int64] | None = None) -> None:
        self._rows: npt.NDArray[np.int8] | None = None
        if (folder / _STARTS).is_file():
            self._rows = np.asarray(np.load(folder / _VECTORS, mmap_mode="r"))
            self._scales: npt.NDArray[np.float32] = np.load(folder / _SCALES)
            bounds: npt.NDArray[np.int64] = np.load(folder / _STARTS)
            self._starts, self._ends = bounds[:-1], bounds[1:]
            if only is not None:
                self._starts, self._ends = self._starts[only], self._ends[only]

    def nearest(
        self,
        rows: Sequence[int],
        query: npt.NDArray[np.float32],
        whole: Floats,
    ) -> Floats:
        """For each of these chunks the cosine of its nearest sentence with a vector; of a
        chunk that has no sentences apart, its own. whole: the chunks' cosines. Shape (rows,).
        """
        if self._rows is None or not rows:
            return whole
        at = np.asarray(rows, dtype=np.int64)
        counts = self._ends[at] - self._starts[at]
        owners = np.repeat(np.arange(len(at)), counts)
        first = np.repeat(self._starts[at] - np.cumsum(counts) + counts, counts)
        spans = first + np.arange(len(owners))
        best = np.full(len(at), -np.inf)
        np.maximum.at(best, owners, cosines(self._rows[spans], query) * self._scales[spans])
        return np.where(counts > 0, best, whole)

    def each(self, row: int, query: npt.NDArray[np.float32]) -> Floats:
        """The cosine of every sentence of a chunk, in the order of `sentence_units`; empty if it
        has none apart."""
        if self._rows is None:
            return np.empty(0)
        spans = slice(int(self._starts[row]), int(self._ends[row]))
        return cosines(self._rows[spans], query) * self._scales[spans]


#: Chunks embedded and kept at once: what a killed run loses at most.
_BATCH = 64


def embed_missing(
    store: Store,
    documents: list[int],
    model: Embedder,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embeds the chunks that have no vectors of this embedder yet; returns how many.

    progress: is told (chunks done, chunks in all), first with 0, if there are any.
    """
    todo = store.without_vectors(documents, model.name)
    batches = iter(todo.items())
    done = 0
    if todo and progress is not None:
        progress(0, len(todo))
    while batch := list(islice(batches, _BATCH)):
        rows = _embedded([content for _, content in batch], model)
        keys = [key for key, _ in batch]
        with store.db:
            store.keep(model.name, ((key, own[0]) for key, own in zip(keys, rows, strict=True)))
            store.keep_spans(
                model.name, ((key, packed(own[1:])) for key, own in zip(keys, rows, strict=True))
            )
        done += len(batch)
        if progress is not None:
            progress(done, len(todo))
    return len(todo)


def _embedded(
    chunks: Sequence[tuple[str, list[str], str]], model: Embedder
) -> list[npt.NDArray[np.float32]]:
    """Of each chunk (title, headings, text) its vector, then those of its sentences. Where the
    embedder can, sentences are pooled from the chunk's own pass: a third of the work, and the
    same recall (docs/design/0012)."""
    sentences = [sentence_units(text) for _, _, text in chunks]
    if isinstance(model, PassageEmbedder):
        found = model.embed_passages(
            [
                (path_of(title, headings), own or [text])
                for (title, headings, text), own in zip(chunks, sentences, strict=True)
            ]
        )
        return [unit(rows[: 1 + len(own)]) for rows, own in zip(found, sentences, strict=True)]
    texts: list[str] = []
    starts: list[int] = []
    for (title, headings, text), own in zip(chunks, sentences, strict=True):
        starts.append(len(texts))
        texts.append(embedding_text(title, headings, text))
        texts += [span_text(title, headings, sentence) for sentence in own]
    return np.split(unit(model.embed(texts, "passage")), starts[1:])
