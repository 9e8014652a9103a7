"""Texts to pieces by a Unigram model, as SentencePiece cuts them (Kudo, ACL 2018).

The libraries that do it build a trie of 250,000 pieces whenever they are opened, which takes
longer than answering a question. Here the pieces are sorted hashes in a file mapped into memory,
and opening them costs nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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
