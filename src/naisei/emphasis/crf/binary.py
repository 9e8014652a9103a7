"""Forward–backward for two labels, many sequences at once: what training spends its time on.

The same quantities as `naisei.emphasis.crf.lattice`, with probabilities that are scaled at every
token (Rabiner 1989, §V.A) in place of logarithms. The sequences of a bundle lie beside each
other, the longest first, so that those still going on at a token are the first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bundle", "Expected", "bundles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Expected:
    """log_partition: summed over the sequences. positive: (tokens,), the probability of label 1,
    in the order of the bundle's `tokens`. edges: (4, 4), summed."""

    log_partition: float
    positive: Floats
    edges: Floats


@dataclass(frozen=True, slots=True)
class Bundle:
    """tokens: numbers of its tokens in the whole corpus, token by token of all sequences: first
    all first tokens, then all second ones. going: how many sequences have a token at each place.
    empty: how many sequences have none."""

    tokens: Ints
    going: Ints
    empty: int

    @classmethod
    def of(cls, sequences: Sequence[int], lengths: Sequence[int]) -> Bundle:
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        order = np.array(sorted(sequences, key=lambda i: (-lengths[i], i)), np.int64)
        n = np.array([lengths[i] for i in order], np.int64)
        longest = int(n.max(initial=0))
        going = np.array([(n > t).sum() for t in range(longest)], np.int64)
        rows = [starts[order[:k]] + t for t, k in enumerate(going)]
        tokens = np.concatenate([*rows, np.zeros(0, np.int64)])
        return cls(tokens, going, int((n == 0).sum()))

    def expect(self, scores: Floats, transitions: Floats) -> Expected:
        """scores: of label 1 at each token of the whole corpus; label 0 scores 0."""
        a = np.exp(transitions)
        edges = np.zeros((4, 4))
        edges[2, 3] = self.empty
        total = float(self.empty) * float(transitions[2, 3])
        if not len(self.tokens):
            return Expected(total, np.zeros(0), edges)
        s = scores[self.tokens]
        above = np.maximum(s, 0.0)
        total += float(above.sum())
        e = np.exp(np.stack([-above, s - above]))
        cuts = np.concatenate([[0], np.cumsum(self.going)])
        f, scale = np.empty_like(e), np.empty(len(s))
        for t, k in enumerate(self.going):
            here = slice(cuts[t], cuts[t] + k)
            if t:
                before = f[:, cuts[t - 1] : cuts[t - 1] + k]
                now = (a[:2, :2].T @ before) * e[:, here]
            else:
                now = a[2, :2, None] * e[:, here]
            scale[here] = now[0] + now[1]
            f[:, here] = now / scale[here]
        b = np.empty_like(e)
        ahead = np.empty_like(e)
        for t in range(len(self.going) - 1, -1, -1):
            first, k = cuts[t], int(self.going[t])
            onward = int(self.going[t + 1]) if t + 1 < len(self.going) else 0
            if onward:
                there = slice(cuts[t + 1], cuts[t + 1] + onward)
                ahead[:, there] = e[:, there] * b[:, there] / scale[there]
                b[:, first : first + onward] = a[:2, :2] @ ahead[:, there]
                edges[:2, :2] += f[:, first : first + onward] @ ahead[:, there].T
            if onward < k:
                ended = slice(first + onward, first + k)
                worth = a[:2, 3] @ f[:, ended]
                total += float(np.log(worth).sum())
                b[:, ended] = a[:2, 3, None] / worth
                edges[:2, 3] += (f[:, ended] * b[:, ended]).sum(1)
        total += float(np.log(scale).sum())
        edges[:2, :2] *= a[:2, :2]
        gamma = f * b
        edges[2, :2] = gamma[:, : self.going[0]].sum(1)
        return Expected(total, gamma[1], edges)


def bundles(lengths: Sequence[int], *, room: int) -> list[Bundle]:
    """Sequences of like lengths together; each bundle holds about `room` tokens."""
    parts: list[list[int]] = []
    left = 0
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if not parts or left < lengths[i]:
            parts.append([])
            left = room
        parts[-1].append(i)
        left -= lengths[i]
    return [Bundle.of(part, lengths) for part in parts]
