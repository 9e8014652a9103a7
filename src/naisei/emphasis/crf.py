"""A linear-chain CRF with two labels, and one over hashed features with its training.

After Lafferty, McCallum & Pereira (2001), with the start and end states of the thesis, §4.3.2.
Transitions are (4, 4), the score A of going from row to column: row 2 is the start, column 3 the
end; transitions into the start or out of the end are ignored.

Training takes many steps, so the last bit of a number affects a weight's third digit. In BLAS
libraries and NumPy's `exp` that bit depends on the processor; in `dot` and `exp` here it does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

_SUFFICIENT, _TRIES = 1e-4, 30


def dot(a: Floats, b: Floats) -> float:
    """Σ aᵢbᵢ, summed in the same order on every processor."""
    return float((a * b).sum())


def exp(x: Floats) -> Floats:
    """eˣ as (e^(x/4096))^4096, by additions and multiplications; 11 digits for |x| ≤ 40."""
    y = np.maximum(x, -1000.0) / 4096
    power = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5))))
    for _ in range(12):
        power *= power
    return power


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    steps: int = 100,
    memory: int = 8,
    tolerance: float = 1e-4,
) -> Floats:
    """Find a minimum of a smooth function by L-BFGS (Nocedal & Wright 2006, algorithm 7.5).

    objective: returns value and gradient at a point. tolerance: stop when the gradient's
    largest component is below it times max(1, |value|), or when ten steps together gain
    less than that share of the value. Stops after `steps` in any case. Deterministic.
    """
    x = np.asarray(start, np.float64).copy()
    value, slope = objective(x)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
    past: deque[float] = deque([value], maxlen=11)
    for _ in range(steps):
        scale = max(1.0, abs(value))
        if float(np.abs(slope).max(initial=0.0)) <= tolerance * scale:
            return x
        if len(past) == past.maxlen and past[0] - value <= tolerance * scale:
            return x
        direction = _direction(slope, pairs)
        downhill = dot(direction, slope)
        if downhill >= 0:
            pairs.clear()
            direction = -slope
            downhill = -dot(slope, slope)
        size = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(slope).sum()))
        for _ in range(_TRIES):
            there = x + size * direction
            new_value, new_slope = objective(there)
            if new_value <= value + _SUFFICIENT * size * downhill:
                break
            size *= 0.5
        else:
            # No step improves the value any more: rounding allows no lower one.
            return x
        moved, turned = there - x, new_slope - slope
        if (curve := dot(moved, turned)) > 1e-10 * dot(turned, turned):
            pairs.append((moved, turned, 1.0 / curve))
        x, value, slope = there, new_value, new_slope
        past.append(value)
    return x


def _direction(slope: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    q = -slope
    shares: list[float] = []
    for moved, turned, inverse in reversed(pairs):
        shares.append(share := inverse * dot(moved, q))
        q = q - share * turned
    if pairs:
        moved, turned, _ = pairs[-1]
        q = q * (dot(moved, turned) / dot(turned, turned))
    for (moved, turned, inverse), share in zip(pairs, reversed(shares), strict=True):
        q = q + (share - inverse * dot(turned, q)) * moved
    return q


# Forward–backward, batched; training spends most time here.
#
# Probabilities are scaled at every token (Rabiner 1989, §V.A). The sequences of a bundle are
# sorted by length, longest first, so that those with a token at a position are the first ones.


@dataclass(frozen=True, slots=True)
class Expected:
    """log_partition: sum over the sequences. positive: (tokens,), the probability of label 1,
    in the order of the bundle's `tokens`. edges: (4, 4), sum over the sequences."""

    log_partition: float
    positive: Floats
    edges: Floats


@dataclass(frozen=True, slots=True)
class Bundle:
    """tokens: numbers of its tokens in the whole corpus, ordered by position: the first tokens
    of all sequences, then all second ones. going: number of sequences with a token at each
    position. empty: number of empty sequences."""

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
        """scores: score of label 1 at each token of the whole corpus; label 0 scores 0."""
        a = exp(transitions)
        edges = np.zeros((4, 4))
        edges[2, 3] = self.empty
        total = float(self.empty) * float(transitions[2, 3])
        if not len(self.tokens):
            return Expected(total, np.zeros(0), edges)
        s = scores[self.tokens]
        above = np.maximum(s, 0.0)
        total += float(above.sum())
        # The label with the greater score gets 1.
        e = np.where([s < 0, s >= 0], 1.0, exp(-np.abs(s)))
        cuts = np.concatenate([[0], np.cumsum(self.going)])
        f, scale = np.empty_like(e), np.empty(len(s))
        for t, k in enumerate(self.going):
            here = slice(cuts[t], cuts[t] + k)
            if t:
                before = f[:, cuts[t - 1] : cuts[t - 1] + k]
                now = (a[0, :2, None] * before[0] + a[1, :2, None] * before[1]) * e[:, here]
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
                after = ahead[:, there]
                b[:, first : first + onward] = a[:2, :1] * after[0] + a[:2, 1:2] * after[1]
                edges[:2, :2] += (f[:, None, first : first + onward] * after).sum(2)
            if onward < k:
                ended = slice(first + onward, first + k)
                worth = a[0, 3] * f[0, ended] + a[1, 3] * f[1, ended]
                total += float(np.log(worth).sum())
                b[:, ended] = a[:2, 3, None] / worth
                edges[:2, 3] += (f[:, ended] * b[:, ended]).sum(1)
        total += float(np.log(scale).sum())
        edges[:2, :2] *= a[:2, :2]
        gamma = f * b
        edges[2, :2] = gamma[:, : self.going[0]].sum(1)
        return Expected(total, gamma[1], edges)


def bundles(lengths: Sequence[int], *, room: int) -> list[Bundle]:
    """Group sequences of similar length; each bundle has about `room` tokens."""
    parts: list[list[int]] = []
    left = 0
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if not parts or left < lengths[i]:
            parts.append([])
            left = room
        parts[-1].append(i)
        left -= lengths[i]
    return [Bundle.of(part, lengths) for part in parts]


def marginals(scores: Sequence[Floats], transitions: Floats) -> list[Floats]:
    """The probability of label 1 at each token of each sequence. scores: score of label 1 at each
    token; label 0 scores 0."""
    lengths = [len(s) for s in scores]
    whole = np.concatenate([np.zeros(0), *scores])
    out = np.zeros(len(whole))
    for bundle in bundles(lengths, room=_ROOM):
        out[bundle.tokens] = bundle.expect(whole, transitions).positive
    return np.split(out, np.cumsum(lengths)[:-1]) if lengths else []


def likeliest(emissions: Floats, transitions: Floats) -> list[bool]:
    """The likeliest labels of one sequence (Viterbi 1967). emissions: (tokens, 2).

    On ties, those with the lower label at the last token where they differ.
    """
    if not len(emissions):
        return []
    a = transitions.tolist()
    (first_off, first_on), *rest = emissions.tolist()
    off, on = a[2][0] + first_off, a[2][1] + first_on
    came: list[tuple[bool, bool]] = []
    for more_off, more_on in rest:
        to_off = off + a[0][0], on + a[1][0]
        to_on = off + a[0][1], on + a[1][1]
        came.append((to_off[1] > to_off[0], to_on[1] > to_on[0]))
        off, on = max(to_off) + more_off, max(to_on) + more_on
    found = [on + a[1][3] > off + a[0][3]]
    for before in reversed(came):
        found.append(before[found[-1]])
    return found[::-1]


# A two-label CRF whose emissions are sums of weights of hashed features.
#
# With two labels only the difference of their scores counts, so label 0 scores 0 and a
# feature has one weight. A token has C features, one per column, as codes below 2^BITS. Code
# NOTHING means no feature; a token with code BLOCKED has label 0 for certain.

#: 2^20 codes; a corpus of a few hundred articles has about 10^5 features.
BITS = 20
NOTHING, BLOCKED = 0, 1
#: Odds of e^−40 count as 0.
_NEVER = -40.0

#: Fewest occurrences of a feature whose weight is learnt.
_FEWEST = 2
#: Tokens per batch of the lattice.
_ROOM = 65_536


@dataclass(frozen=True, slots=True)
class SparseCrf:
    """weights: (2^BITS,), one per feature code. transitions: (4, 4), as in eq. 4.1."""

    weights: Floats
    transitions: Floats

    def emissions(self, codes: Codes) -> Floats:
        """Score of label 1 at each of n tokens, (n,), from codes (n, C)."""
        total = np.zeros(len(codes))
        # Column by column: this needs one (n,) array instead of (n, C).
        for column in codes.T:
            total += self.weights[column]
        return total

    def marginals(self, sequences: Sequence[Codes]) -> list[Floats]:
        """The probability of label 1 at each token of each sequence."""
        return marginals([self.emissions(s) for s in sequences], self.transitions)

    def best(self, sequences: Sequence[Codes]) -> list[list[bool]]:
        """The likeliest labels of each sequence."""
        return [
            likeliest(np.stack([np.zeros(len(s)), self.emissions(s)], 1), self.transitions)
            for s in sequences
        ]


def fit(
    sequences: Sequence[Codes],
    labels: Sequence[Sequence[bool]],
    *,
    l2: float = 1.0,
    steps: int = 80,
    tolerance: float = 1e-3,
    prior: SparseCrf | None = None,
) -> SparseCrf:
    """Return the weights with the greatest penalised likelihood, by L-BFGS.

    l2: weight of ½‖w − prior‖² against the summed log-likelihood. Features seen only once keep
    their prior weight. tolerance: see `minimise`; a smaller one raises likelihood and lowers F1.
    prior: the starting point, 0 by default; it adapts a model to a few sequences (Chelba
    & Acero 2004). Deterministic.
    """
    centre = prior or SparseCrf(np.zeros(1 << BITS), np.zeros((4, 4)))
    lengths = [len(s) for s in sequences]
    table = np.concatenate([*sequences], dtype=np.int32)
    gold = np.concatenate([np.asarray(y, np.float64) for y in labels])
    seen = np.bincount(table.ravel(), minlength=1 << BITS)
    seen[[NOTHING, BLOCKED]] = 0
    known = (seen > 0) & (centre.weights != 0)
    kept = np.flatnonzero(known | (seen >= _FEWEST))
    number = np.zeros(1 << BITS, np.int32)
    number[kept] = np.arange(2, len(kept) + 2)
    number[BLOCKED] = BLOCKED
    size = len(kept) + 2
    columns = [_Column.of(number[column], size) for column in table.T]
    free = np.ones(size + 16)
    # Number 0 is for missing and rare features.
    free[[NOTHING, BLOCKED]] = 0.0
    parts = bundles(lengths, room=_ROOM)
    # Counts over the true labels are the same at every step.
    true = _taken(gold.astype(np.int64), lengths)

    def objective(x: Floats) -> tuple[float, Floats]:
        w, a = x[:size], x[size:].reshape(4, 4)
        scores = np.zeros(len(gold))
        for column in columns:
            scores += w[column.numbers][column.at]
        error = -gold
        slope_a = -true
        loss = -dot(scores, gold) - dot(a, true)
        for part in parts:
            found = part.expect(scores, a)
            loss += found.log_partition
            slope_a += found.edges
            error[part.tokens] += found.positive
        slope_w = np.zeros(size)
        for column in columns:
            slope_w[column.numbers] += np.bincount(
                column.at, weights=error, minlength=len(column.numbers)
            )
        loose = (x - start) * free
        slope = np.concatenate([slope_w, slope_a.ravel()]) * free + l2 * loose
        return loss + 0.5 * l2 * dot(loose, loose), slope

    start = np.concatenate([[0, _NEVER], centre.weights[kept], centre.transitions.ravel()])
    at = minimise(objective, start, steps=steps, tolerance=tolerance)
    weights = centre.weights.copy()
    weights[BLOCKED] = _NEVER
    weights[kept] = at[2:size]
    return SparseCrf(weights, at[size:].reshape(4, 4))


@dataclass(frozen=True, slots=True)
class _Column:
    """numbers: distinct features that occur in a column. at: for each token, its index in
    `numbers`. Gathered values of a column are adjacent in memory."""

    numbers: Ints
    at: Ints

    @classmethod
    def of(cls, column: NDArray[np.int32], size: int) -> _Column:
        """size: greater than every number. Like `np.unique`, but without sorting."""
        there = np.zeros(size, bool)
        there[column] = True
        return cls(np.flatnonzero(there), (np.cumsum(there) - 1)[column])


def _taken(y: Ints, lengths: Sequence[int]) -> Floats:
    """Counts of label transitions: (4, 4)."""
    counts = np.zeros((4, 4))
    n = np.array(lengths, np.int64)
    ends = np.cumsum(n)
    some = n > 0
    first, last = (ends - n)[some], (ends - 1)[some]
    counts[2, :2] = np.bincount(y[first], minlength=2)
    counts[:2, 3] = np.bincount(y[last], minlength=2)
    counts[2, 3] = float((~some).sum())
    # Every token except the last has an outgoing transition.
    inner = np.ones(len(y), bool)
    inner[last] = False
    at = np.flatnonzero(inner)
    counts[:2, :2] = np.bincount(2 * y[at] + y[at + 1], minlength=4).reshape(2, 2)
    return counts
