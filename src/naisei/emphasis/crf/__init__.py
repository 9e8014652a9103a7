"""Scores, partition, best path and expectations of a linear-chain CRF, in numpy.

After Lafferty, McCallum & Pereira (2001), with the start and end states of the thesis,
§4.3.2. B sequences of at most T tokens and K labels at once:

* emissions: (B, T, K), the score P of each label at each token, finite;
* transitions: (K + 2, K + 2), the score A of going from row to column; row K is the start,
  column K + 1 the end; −inf forbids, and what enters the start or leaves the end is unread;
* lengths: (B,), each in 0 … T. What lies past a length is padding and is never read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Expectations", "expectations", "log_partition", "path_score", "viterbi"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the model expects over all labellings of each sequence.

    log_partition: (B,), log Σ e^s. tokens: (B, T, K), the probability of each label at each
    token, 0 on padding. edges: (B, K + 2, K + 2), the expected number of times that each
    transition is taken; each sums to the length + 1.
    """

    log_partition: Floats
    tokens: Floats
    edges: Floats


def path_score(
    emissions: ArrayLike, transitions: ArrayLike, labels: ArrayLike, lengths: ArrayLike
) -> Floats:
    """s(X, y) of each sequence: (B,). labels: (B, T), each in 0 … K − 1 before its length.

    Raises:
        ValueError: shapes that do not fit, or a length outside 0 … T.
    """
    p, a, n, mask = _checked(emissions, transitions, lengths)
    rows, steps, k = p.shape
    y = np.where(mask, np.asarray(labels, np.int64).reshape(rows, steps), 0)
    if bool(((y < 0) | (y >= k)).any()):
        raise ValueError(f"a label outside 0 … {k - 1}")
    own = np.take_along_axis(p, y[:, :, None], 2)[:, :, 0].sum(1)
    before = np.concatenate([np.full((rows, 1), k), y], 1)
    after = np.concatenate([y, np.full((rows, 1), k + 1)], 1)
    # The last token's step goes to the end; what follows it is padding.
    after[np.arange(rows), n] = k + 1
    taken = np.arange(steps + 1)[None, :] <= n[:, None]
    total: Floats = own + np.where(taken, a[before, after], 0.0).sum(1)
    return total


def log_partition(emissions: ArrayLike, transitions: ArrayLike, lengths: ArrayLike) -> Floats:
    """log Σ over all labellings of e^s, by the forward algorithm: (B,).

    Raises:
        ValueError: shapes that do not fit, or a length outside 0 … T.
    """
    p, a, n, mask = _checked(emissions, transitions, lengths)
    return _total(_forward(p, a, mask), a, n)


def expectations(emissions: ArrayLike, transitions: ArrayLike, lengths: ArrayLike) -> Expectations:
    """Marginals by the forward–backward algorithm.

    Raises:
        ValueError: shapes that do not fit, or a length outside 0 … T.
    """
    p, a, n, mask = _checked(emissions, transitions, lengths)
    rows, steps, k = p.shape
    alpha = _forward(p, a, mask)
    total = _total(alpha, a, n)
    beta = np.zeros((rows, steps, k))
    last = np.broadcast_to(a[:k, k + 1], (rows, k))
    for t in range(steps - 1, -1, -1):
        if t == steps - 1:
            beta[:, t] = last
            continue
        onward = np.logaddexp.reduce(a[None, :k, :k] + (p[:, t + 1] + beta[:, t + 1])[:, None], 2)
        beta[:, t] = np.where((t + 1 < n)[:, None], onward, last)
    tokens = np.where(mask[:, :, None], np.exp(alpha + beta - total[:, None, None]), 0.0)
    edges = np.zeros((rows, k + 2, k + 2))
    if steps:
        pairs = alpha[:, :-1, :, None] + a[:k, :k] + (p + beta)[:, 1:, None, :]
        inside = mask[:, 1:, None, None]
        edges[:, :k, :k] = np.where(inside, np.exp(pairs - total[:, None, None, None]), 0.0).sum(1)
        edges[:, k, :k] = tokens[:, 0]
        at_end = np.take_along_axis(tokens, np.maximum(n - 1, 0)[:, None, None], 1)[:, 0]
        edges[:, :k, k + 1] = np.where((n > 0)[:, None], at_end, 0.0)
    edges[n == 0, k, k + 1] = 1.0
    return Expectations(total, tokens, edges)


def viterbi(
    emissions: ArrayLike, transitions: ArrayLike, lengths: ArrayLike
) -> tuple[Ints, Floats]:
    """The likeliest labels (B, T), 0 on padding, and their scores (B,). Viterbi 1967.

    Of equal paths, the one with the lower label at the last token where they differ.

    Raises:
        ValueError: shapes that do not fit, or a length outside 0 … T.
    """
    p, a, n, mask = _checked(emissions, transitions, lengths)
    rows, steps, k = p.shape
    best = np.zeros((rows, steps), np.int64)
    if not steps:
        return best, np.full(rows, a[k, k + 1])
    came = np.zeros((rows, steps, k), np.int64)
    score = a[k, :k] + p[:, 0]
    for t in range(1, steps):
        ways = score[:, :, None] + a[None, :k, :k]
        came[:, t] = ways.argmax(1)
        score = np.where(mask[:, t, None], ways.max(1) + p[:, t], score)
    ended = score + a[:k, k + 1]
    label = ended.argmax(1)
    every = np.arange(rows)
    for t in range(steps - 1, -1, -1):
        # Before the last token is reached, `label` waits there.
        best[:, t] = np.where(mask[:, t], label, 0)
        label = np.where(mask[:, t] & (t > 0), came[every, t, label], label)
    return best, np.where(n > 0, ended.max(1), a[k, k + 1])


def _forward(p: Floats, a: Floats, mask: NDArray[np.bool_]) -> Floats:
    """log of the summed weight of all ways to each label at each token: (B, T, K)."""
    rows, steps, k = p.shape
    alpha = np.zeros((rows, steps, k))
    for t in range(steps):
        if t == 0:
            alpha[:, 0] = a[k, :k] + p[:, 0]
            continue
        ways = np.logaddexp.reduce(alpha[:, t - 1, :, None] + a[None, :k, :k], 1) + p[:, t]
        alpha[:, t] = np.where(mask[:, t, None], ways, alpha[:, t - 1])
    return alpha


def _total(alpha: Floats, a: Floats, n: Ints) -> Floats:
    k = alpha.shape[2]
    nothing = np.full(len(n), a[k, k + 1])
    if not alpha.shape[1]:
        return nothing
    ended: Floats = np.logaddexp.reduce(alpha[:, -1] + a[:k, k + 1], 1)
    return np.where(n > 0, ended, nothing)


def _checked(
    emissions: ArrayLike, transitions: ArrayLike, lengths: ArrayLike
) -> tuple[Floats, Floats, Ints, NDArray[np.bool_]]:
    p, a = np.asarray(emissions, np.float64), np.asarray(transitions, np.float64)
    n = np.asarray(lengths, np.int64)
    if p.ndim != 3 or a.shape != (p.shape[2] + 2,) * 2 or n.shape != p.shape[:1]:
        raise ValueError(
            f"emissions {p.shape}, transitions {a.shape} and lengths {n.shape} do not fit"
        )
    if len(n) and not 0 <= n.min() <= n.max() <= p.shape[1]:
        raise ValueError(f"a length outside 0 … {p.shape[1]}")
    mask = np.arange(p.shape[1])[None, :] < n[:, None]
    return np.where(mask[:, :, None], p, 0.0), a, n, mask
