"""Matching lists of cue words against a text, by normalised form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from naisei.japanese.morph import lemmas

__all__ = ["Cues", "contains"]

Lemmas = tuple[str, ...]


def contains(text: Lemmas, cue: Lemmas) -> bool:
    """Whether the words of `cue` follow one another somewhere in `text`."""
    width = len(cue)
    return any(text[i : i + width] == cue for i in range(len(text) - width + 1))


class Cues:
    """Several lists of cue words, one a row; a text is scored against all at once.

    A cue that stands in few rows weighs more: log(1 + rows / rows that hold it), scaled so
    that a cue of a single row weighs 1.
    """

    def __init__(self, rows: Sequence[Iterable[str]]) -> None:
        sets = [{c for word in row if (c := lemmas(word))} for row in rows]
        counts = Counter(cue for row in sets for cue in row)
        top = np.log1p(len(sets)) if sets else 1.0
        self._rows = len(sets)
        self._by_head: dict[str, list[tuple[Lemmas, float, list[int]]]] = {}
        for cue in sorted(counts):
            weight = float(np.log1p(len(sets) / counts[cue]) / top)
            held_by = [i for i, row in enumerate(sets) if cue in row]
            self._by_head.setdefault(cue[0], []).append((cue, weight, held_by))

    def score(self, text: str) -> npt.NDArray[np.float64]:
        """Shape (rows,): the weights of the different cues found, summed; ≥ 0."""
        words = lemmas(text)
        out = np.zeros(self._rows)
        for head in set(words):
            for cue, weight, rows in self._by_head.get(head, ()):
                if contains(words, cue):
                    out[rows] += weight
        return out
