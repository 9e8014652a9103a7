"""Tokenises texts with a Unigram model, like SentencePiece (Kudo, ACL 2018).

Other libraries build a trie of 250,000 tokens when opened, which takes longer than answering a
question. Here the tokens are sorted hashes in a memory-mapped file, so opening costs nothing.

`FastEmbedder` runs no network: its token vectors are distilled from multilingual-e5-small, and a
text's vector is the weighted sum of its tokens' vectors. Word order is lost, but it embeds
thousands of texts per core-second, wherever numpy runs. Distillation: Tulkens & van Dongen,
Model2Vec, 2024. Weights: Arora, Liang & Ma, A Simple but Tough-to-Beat Baseline for Sentence
Embeddings, ICLR 2017.
`tools/fast_embedder.py` makes the file.
"""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from naisei.similarity import unit

#: Base of the rolling hash modulo 2⁶⁴; odd.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SPACE, _END = "▁", "\0"
#: Separate voicing marks after a half-width kana.
_MARKS = ("\u3099", "\u309a")
#: Characters per pass.
_BLOCK = 20_000
#: Extra cost of an unknown piece over the rarest one.
_UNKNOWN = 10.0


def codes(text: str) -> npt.NDArray[np.uint64]:
    """Code points plus 1, since a leading 0 would not change a hash."""
    found = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return found.astype(np.uint64) + np.uint64(1)


def hashes(characters: npt.NDArray[np.uint64], longest: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield hashes of all runs of 1, 2 … `longest` characters, by start."""
    found = characters.copy()
    for length in range(1, min(longest, len(characters)) + 1):
        if length > 1:
            found = found[:-1] * _BASE + characters[length - 1 :]
        yield found


class Unigram:
    """known: sorted token hashes. numbers, scores: token ids and scores in that order. unknown: id
    of the unknown token. longest: characters of the longest token. normalised: maps characters to
    normalised forms."""

    def __init__(
        self,
        known: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.int32],
        scores: npt.NDArray[np.float32],
        *,
        unknown: int,
        longest: int,
        normalised: dict[str, str],
    ) -> None:
        # Slicing a memmap is slow; slicing a plain view is not.
        self._known, self._numbers, self._scores = map(np.asarray, (known, numbers, scores))
        self._unknown, self._longest = unknown, longest
        self._least = float(scores.min()) - _UNKNOWN
        self._becomes: dict[int, Any] = {ord(c): to for c, to in normalised.items()}

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, without special tokens."""
        found: list[list[int]] = []
        block: list[str] = []
        size = 0
        for text in texts:
            block.append(self._normal(text))
            size += len(block[-1])
            if size > _BLOCK:
                found += self._cut(block)
                block, size = [], 0
        return found + (self._cut(block) if block else [])

    def _normal(self, text: str) -> str:
        text = text.replace(_END, " ").translate(self._becomes)
        if any(mark in text for mark in _MARKS):
            text = unicodedata.normalize("NFC", text)
        while "  " in text:
            text = text.replace("  ", " ")
        return (text if text.startswith(" ") else " " + text).replace(" ", _SPACE)

    def _cut(self, texts: list[str]) -> list[list[int]]:
        """Tokenise all texts in one pass: the separator is not a token, so no piece crosses it."""
        whole = _END.join([*texts, ""])
        characters = codes(whole)
        runs = [*hashes(characters, self._longest)]
        place = np.searchsorted(self._known, run := np.concatenate(runs))
        place = np.minimum(place, len(self._known) - 1)
        hit = np.flatnonzero(self._known[place] == run)
        ends = np.cumsum([0, *map(len, runs)])
        lengths = np.searchsorted(ends, hit, "right")
        own, first = place[hit], hit - ends[lengths - 1]
        single = np.zeros(len(characters), np.bool_)
        single[first[lengths == 1]] = True
        lone = np.flatnonzero(~single)
        end = np.concatenate([first + lengths, lone + 1])
        first = np.concatenate([first, lone])
        scores = np.concatenate([self._scores[own], np.full(len(lone), self._least, np.float32)])
        numbers = np.concatenate([self._numbers[own], np.full(len(lone), self._unknown)])
        order = np.argsort(first, kind="stable")
        return self._best(
            characters == codes(_END),
            zip(*(part[order].tolist() for part in (first, end, scores, numbers)), strict=True),
        )

    def _best(
        self, ends: npt.NDArray[np.bool_], runs: Iterator[tuple[int, int, float, int]]
    ) -> list[list[int]]:
        """The Viterbi path through all runs."""
        size = len(ends)
        best = [-1e30] * (size + 1)
        best[0] = 0.0
        before, piece = [0] * (size + 1), [0] * (size + 1)
        for first, end, score, number in runs:
            if (total := best[first] + score) > best[end]:
                best[end], before[end], piece[end] = total, first, number
        found: list[list[int]] = []
        at = size
        while at > 0:
            if ends[at - 1] and before[at] == at - 1:
                found.append([])
            else:
                found[-1].append(piece[at])
            at = before[at]
        return [pieces[::-1] for pieces in reversed(found)]


_LOCK = threading.Lock()
#: Most characters read of a text.
_CHARACTERS = 8_000


class _Pieces:
    """The tokenizer, and each token's 8-bit vector and scale."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        hashes = np.load(folder / "hashes.npy", mmap_mode="r")
        self.cutter = Unigram(
            hashes,
            np.arange(len(hashes), dtype=np.int32),
            np.load(folder / "scores.npy"),
            unknown=len(hashes),
            longest=about["longest"],
            normalised=about["normalised"],
        )
        self.vectors: npt.NDArray[np.int8] = np.load(folder / "vectors.npy", mmap_mode="r")
        scales: npt.NDArray[np.float32] = np.load(folder / "scales.npy")
        self.scales = np.append(scales, np.float32(0))  # for unknown tokens


@cache
def _vocabulary() -> _Pieces:
    with as_file(files("naisei") / "data" / "fast_embedder") as folder:
        return _Pieces(folder)


class FastEmbedder:
    """Vectors do not depend on batch or process; queries and passages are treated alike. A text
    without known tokens gets the first unit vector."""

    name = "fast"

    @property
    def dim(self) -> int:
        with _LOCK:
            return int(_vocabulary().vectors.shape[1])

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), unit rows."""
        with _LOCK:
            own = _vocabulary()
        out = np.zeros((len(texts), own.vectors.shape[1]), np.float32)
        cut = own.cutter.cut([text[:_CHARACTERS] for text in texts])
        for row, numbers in zip(out, cut, strict=True):
            known = [n for n in numbers if n < len(own.vectors)]
            row[:] = (own.scales[known, None] * own.vectors[known]).sum(axis=0)
            if not row.any():
                row[0] = 1.0
        return unit(out)
