"""Texts to pieces by a Unigram model, as SentencePiece cuts them (Kudo, ACL 2018).

The libraries that do it build a trie of 250,000 pieces whenever they are opened, which takes
longer than answering a question. Here the pieces are sorted hashes in a file mapped into memory,
and opening them costs nothing.

`FastEmbedder` runs no network: its vectors of pieces are distilled from multilingual-e5-small, and
a text's vector is the weighted sum of those of its pieces. Word order is lost, but it embeds
thousands of texts per core-second, wherever numpy does. Distilling: Tulkens & van Dongen,
Model2Vec, 2024. Weights: Arora, Liang & Ma, A Simple but Tough-to-Beat Baseline for Sentence
Embeddings, ICLR 2017.
How the file was made: `tools/fast_embedder.py`.
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

#: Of the rolling hash, modulo 2⁶⁴; odd.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SPACE, _END = "▁", "\0"
#: Voicing marks that a half-width kana leaves behind it.
_MARKS = ("\u3099", "\u309a")
#: Characters cut at once.
_BLOCK = 20_000
#: Extra cost of an unknown piece over the rarest one.
_UNKNOWN = 10.0


def codes(text: str) -> npt.NDArray[np.uint64]:
    """Its characters, counted from 1: a leading 0 would not show in a hash."""
    found = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    return found.astype(np.uint64) + np.uint64(1)


def hashes(characters: npt.NDArray[np.uint64], longest: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Of all runs of 1, 2 … `longest` characters, by their first one."""
    found = characters.copy()
    for length in range(1, min(longest, len(characters)) + 1):
        if length > 1:
            found = found[:-1] * _BASE + characters[length - 1 :]
        yield found


class Unigram:
    """known: sorted hashes of the pieces. numbers, scores: of the pieces in that order. unknown:
    the number of the unknown piece. longest: characters of the longest piece. normalised: the
    mapping of normalised characters."""

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
        # A mapped array is slow to take parts of; a plain view of it is not.
        self._known, self._numbers, self._scores = map(np.asarray, (known, numbers, scores))
        self._unknown, self._longest = unknown, longest
        self._least = float(scores.min()) - _UNKNOWN
        self._becomes: dict[int, Any] = {ord(c): to for c, to in normalised.items()}

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, without special ones."""
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
        """Viterbi's way through all runs."""
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
#: Of a text; a longer one's remaining characters are not read.
_CHARACTERS = 8_000


class _Pieces:
    """The tokenizer, and each piece's vector in 8 bits with its scale."""

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
        self.scales = np.append(scales, np.float32(0))  # of a piece that is not known


@cache
def _vocabulary() -> _Pieces:
    with as_file(files("naisei") / "data" / "fast_embedder") as folder:
        return _Pieces(folder)


class FastEmbedder:
    """The same vector whatever the batch and the process; queries and passages are treated alike.
    A text none of whose pieces is known gets the first unit vector."""

    name = "fast"

    @property
    def dim(self) -> int:
        with _LOCK:
            return int(_vocabulary().vectors.shape[1])

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), rows of length 1."""
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
