"""A CRF for two labels whose emissions are sums of weights of hashed features.

With two labels only the difference of their scores counts, so label 0 scores 0 and a
feature has one weight. A token has C features, one a column, as codes below 2^BITS. Code
NOTHING is no feature; a token with code BLOCKED has label 0 for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.crf.lattice import expectations, viterbi
from naisei.emphasis.crf.lbfgs import minimise

__all__ = ["BITS", "BLOCKED", "NOTHING", "SparseCrf", "fit"]

#: 2^20 codes: a corpus of a few hundred articles has some 10^5 features.
BITS = 20
NOTHING, BLOCKED = 0, 1
#: Odds of e^−40 are none.
_NEVER = -40.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
#: Tokens that are put through the lattice at once.
_BATCH = 16_384


@dataclass(frozen=True, slots=True)
class SparseCrf:
    """weights: (2^BITS,), of each feature code. transitions: (4, 4), as in eq. 4.1."""

    weights: Floats
    transitions: Floats

    def emissions(self, codes: Codes) -> Floats:
        """Score of label 1 at each of n tokens, (n,), from codes (n, C)."""
        return _summed(self.weights, codes)

    def marginals(self, sequences: Sequence[Codes]) -> list[Floats]:
        """The probability of label 1 at each token of each sequence."""
        scores = [self.emissions(s) for s in sequences]
        out = [np.zeros(len(s)) for s in scores]
        for batch in _batches([len(s) for s in scores]):
            found = expectations(*_padded([scores[i] for i in batch], self.transitions))
            for row, i in zip(found.tokens, batch, strict=True):
                out[i] = row[: len(scores[i]), 1]
        return out

    def best(self, sequences: Sequence[Codes]) -> list[list[bool]]:
        """The likeliest labels of each sequence."""
        scores = [self.emissions(s) for s in sequences]
        out: list[list[bool]] = [[] for _ in scores]
        for batch in _batches([len(s) for s in scores]):
            paths, _ = viterbi(*_padded([scores[i] for i in batch], self.transitions))
            for row, i in zip(paths, batch, strict=True):
                out[i] = [bool(label) for label in row[: len(scores[i])]]
        return out


def fit(
    sequences: Sequence[Codes],
    labels: Sequence[Sequence[bool]],
    *,
    l2: float = 1.0,
    min_count: int = 2,
    steps: int = 80,
) -> SparseCrf:
    """The weights of greatest penalised likelihood, by L-BFGS.

    l2: weight of ½‖w‖² beside the summed log-likelihood. min_count: features seen less
    often keep weight 0. Deterministic.
    """
    lengths = [len(s) for s in sequences]
    table = np.concatenate([*sequences], dtype=np.int32)
    gold = np.concatenate([np.asarray(y, np.float64) for y in labels])
    # Codes in use are numbered anew, so that what is gathered lies close together.
    seen = np.bincount(table.ravel(), minlength=1 << BITS)
    seen[[NOTHING, BLOCKED]] = 0
    kept = np.flatnonzero(seen >= max(1, min_count))
    number = np.zeros(1 << BITS, np.int32)
    number[kept] = np.arange(2, len(kept) + 2)
    number[BLOCKED] = BLOCKED
    # A column lies in one piece: it is gathered at once.
    columns = np.ascontiguousarray(number[table].T)
    size = len(kept) + 2
    free = np.ones(size + 16)
    # Number 0 stands for no feature and for the rare ones.
    free[[NOTHING, BLOCKED]] = 0.0
    batches = [_Batch.of(batch, lengths) for batch in _batches(lengths)]
    # What the labels themselves use is the same at every step.
    true = sum((_taken(b.padded(gold)[:, :, 1].astype(np.int64), b.lengths) for b in batches),
               np.zeros((4, 4)))  # fmt: skip

    def objective(x: Floats) -> tuple[float, Floats]:
        w, a = x[:size], x[size:].reshape(4, 4)
        scores = _summed(w, columns.T)
        error = -gold
        slope_a = -true
        loss = -float(scores @ gold) - float((a * true).sum())
        for batch in batches:
            found = expectations(batch.padded(scores), a, batch.lengths)
            loss += float(found.log_partition.sum())
            slope_a += found.edges.sum(0)
            error[batch.tokens] += found.tokens[batch.row, batch.column, 1]
        slope_w = np.bincount(columns.ravel(), weights=np.tile(error, len(columns)), minlength=size)
        loose = x * free
        slope = np.concatenate([slope_w, slope_a.ravel()]) * free + l2 * loose
        return loss + 0.5 * l2 * float(loose @ loose), slope

    start = np.zeros(size + 16)
    start[BLOCKED] = _NEVER
    found = minimise(objective, start, steps=steps)
    weights = np.zeros(1 << BITS)
    weights[BLOCKED] = _NEVER
    weights[kept] = found.at[2:size]
    return SparseCrf(weights, found.at[size:].reshape(4, 4))


@dataclass(frozen=True, slots=True)
class _Batch:
    """tokens: numbers of its tokens in the whole corpus; row, column: where they lie in it."""

    tokens: Ints
    row: Ints
    column: Ints
    lengths: Ints

    @classmethod
    def of(cls, sequences: Sequence[int], lengths: Sequence[int]) -> _Batch:
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        n = np.array([lengths[i] for i in sequences], np.int64)
        row = np.repeat(np.arange(len(n)), n)
        column = np.arange(len(row)) - np.repeat(np.cumsum(n) - n, n)
        return cls(np.repeat(starts[[*sequences]], n) + column, row, column, n)

    def padded(self, scores: Floats) -> Floats:
        """Emissions of the batch: label 1 has the score, label 0 has 0."""
        p = np.zeros((len(self.lengths), int(self.lengths.max(initial=0)), 2))
        p[self.row, self.column, 1] = scores[self.tokens]
        return p


def _summed(weights: Floats, codes: Codes) -> Floats:
    """Sum over columns, gathered a column at a time: one (n,) array is held, not (n, C)."""
    total = np.zeros(len(codes))
    for column in range(codes.shape[1]):
        total += weights[codes[:, column]]
    return total


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Sequences of like lengths together; each batch holds about as many tokens."""
    out: list[list[int]] = []
    room = 0
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if not out or room < lengths[i]:
            out.append([])
            room = _BATCH
        out[-1].append(i)
        room -= lengths[i]
    return out


def _padded(scores: Sequence[Floats], a: Floats) -> tuple[Floats, Floats, Ints]:
    lengths = np.array([len(s) for s in scores], np.int64)
    p = np.zeros((len(scores), int(lengths.max(initial=0)), 2))
    for row, own in zip(p, scores, strict=True):
        row[: len(own), 1] = own
    return p, a, lengths


def _taken(y: Ints, n: Ints) -> Floats:
    """How often each transition is taken by the labels: (4, 4)."""
    counts = np.zeros((4, 4))
    some = np.flatnonzero(n > 0)
    inside = np.arange(1, y.shape[1])[None, :] < n[:, None]
    pairs = 2 * y[:, :-1][inside] + y[:, 1:][inside]
    counts[:2, :2] = np.bincount(pairs, minlength=4).reshape(2, 2)
    if len(some):
        counts[2, :2] = np.bincount(y[some, 0], minlength=2)
        counts[:2, 3] = np.bincount(y[some, n[some] - 1], minlength=2)
    counts[2, 3] += float((n == 0).sum())
    return counts
