"""Search by meaning: unit vectors of chunks and of their sentences.

One sentence or table row usually answers a question, and a whole chunk's vector dilutes it.
Candidates are therefore ranked by their nearest sentence (MaxP, Dai & Callan, SIGIR 2019, with
cosines). Sentence vectors stay on disk, one byte per number, memory-mapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from naisei.lang import Language
from naisei.models.base import Embedder, PassageEmbedder
from naisei.retrieval.chunking import embedding_text, path_of, sentence_units, span_text
from naisei.similarity import Floats, cosines, unit

if TYPE_CHECKING:
    from naisei.retrieval.store import Store

_FILE = "vectors.npy"


def write_vectors(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """Write the vectors of the chunks with these keys, in order."""
    if not keys:
        return
    shape = (len(keys), model.dim)
    rows = np.lib.format.open_memmap(folder / _FILE, mode="w+", dtype=np.float32, shape=shape)
    for at, (vector, _) in enumerate(store.vectors(model.name, keys)):
        rows[at] = np.frombuffer(vector, dtype="<f4")
    rows.flush()


class VectorIndex:
    """Stored vectors, memory-mapped. A search compares all of them: 18 ms of CPU time for 100,000.

    only: the visible rows, in order; all by default."""

    def __init__(self, folder: Path, only: npt.NDArray[np.int64] | None = None) -> None:
        path = folder / _FILE
        self._only = only
        self._rows: npt.NDArray[np.float32] | None = (
            np.asarray(np.load(path, mmap_mode="r")) if path.is_file() else None
        )

    def scores(self, query: npt.NDArray[np.float32]) -> Floats:
        """Cosine of each chunk with `query`; shape (chunks,)."""
        if self._rows is None:
            return np.zeros(0)
        scores = cosines(self._rows, query)
        return scores if self._only is None else scores[self._only]


_ENGLISH = re.compile(r"\W*(?:[A-Za-z'’-]+[\s,.?!]+){2}[A-Za-z]")


def is_english(query: str) -> bool:
    """Whether a question is in English, possibly with Japanese names."""
    return _ENGLISH.match(query) is not None


@lru_cache(maxsize=2)
def off_subject(language: Language) -> tuple[str, ...]:
    """Questions off-topic for any collection: weather, cooking, history."""
    text = (files("naisei.retrieval") / f"off_subject.{language}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip())


_VECTORS, _SCALES, _STARTS = "spans.npy", "span_scales.npy", "span_starts.npy"
_SCALE = np.dtype("<f4")


def packed(vectors: npt.NDArray[np.float32]) -> bytes:
    """Pack rows at 8 bits per number: row scales, then rows. Cosines change by about 0.001."""
    scales = np.abs(vectors).max(axis=1, initial=1e-9).astype(_SCALE) / np.float32(127)
    rows = np.rint(vectors / scales[:, None]).astype(np.int8)
    return b"".join([scales.astype(_SCALE).tobytes(), rows.tobytes()])


def write_spans(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """Write the sentence vectors of these chunks, in order."""
    width = _SCALE.itemsize + model.dim
    # Two passes, so that only one chunk's sentences are in memory at a time.
    counts = [len(blob) // width for _, blob in store.vectors(model.name, keys)]
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
    if starts[-1] == 0:
        return
    shape = (int(starts[-1]), model.dim)
    rows = np.lib.format.open_memmap(folder / _VECTORS, mode="w+", dtype=np.int8, shape=shape)
    scales = np.empty(shape[0], dtype=_SCALE)
    for start, count, (_, blob) in zip(
        starts, counts, store.vectors(model.name, keys), strict=False
    ):
        cut = count * _SCALE.itemsize
        scales[start : start + count] = np.frombuffer(blob[:cut], dtype=_SCALE)
        rows[start : start + count] = np.frombuffer(blob[cut:], dtype=np.int8).reshape(
            count, model.dim
        )
    rows.flush()
    np.save(folder / _SCALES, scales)
    np.save(folder / _STARTS, starts)


class SpanIndex:
    """Stored sentence vectors; none if all chunks are one sentence. only: see `VectorIndex`."""

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
        """The cosine of each chunk's nearest sentence with a vector; the chunk's own cosine if it
        has no separate sentences. whole: the chunks' cosines. Shape (rows,).
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
        """The cosine of each sentence of a chunk, in the order of `sentence_units`; empty if it has
        no separate sentences."""
        if self._rows is None:
            return np.empty(0)
        spans = slice(int(self._starts[row]), int(self._ends[row]))
        return cosines(self._rows[spans], query) * self._scales[spans]


#: Chunks per batch; a killed run loses at most these.
_BATCH = 64


def embed_missing(
    store: Store,
    documents: list[int],
    model: Embedder,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embed the chunks without vectors of this embedder. Returns their number.

    progress: called with (chunks done, total chunks), starting at 0.
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
            kept = zip(keys, rows, strict=True)
            store.keep(model.name, ((key, own[0], packed(own[1:])) for key, own in kept))
        done += len(batch)
        if progress is not None:
            progress(done, len(todo))
    return len(todo)


def _embedded(
    chunks: Sequence[tuple[str, list[str], str]], model: Embedder
) -> list[npt.NDArray[np.float32]]:
    """For each chunk (title, headings, text), its vector, then its sentences' vectors. If the
    embedder can, sentences are pooled from the chunk's pass: a third of the work, same recall
    (docs/design/0012)."""
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
