"""The CRF against all its labellings, written out."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from naisei.emphasis.crf import expectations, log_partition, path_score, viterbi


def brute_score(p: np.ndarray, a: np.ndarray, y: tuple[int, ...]) -> float:
    k = p.shape[1]
    way = [k, *y, k + 1]
    return sum(a[i, j] for i, j in pairwise(way)) + sum(p[t, label] for t, label in enumerate(y))


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", range(9))
def test_it_equals_brute_force(k: int, n: int) -> None:
    rng = np.random.default_rng(100 * k + n)
    p, a = rng.normal(0, 2, (n, k)), rng.normal(0, 2, (k + 2, k + 2))
    every = list(product(range(k), repeat=n))
    scores = np.array([brute_score(p, a, y) for y in every])
    weights = np.exp(scores - scores.max())
    total = scores.max() + np.log(weights.sum())
    weights /= weights.sum()
    assert log_partition(p[None], a, [n]) == pytest.approx([total], abs=1e-9)
    path, best = viterbi(p[None], a, [n])
    assert tuple(path[0]) == every[int(scores.argmax())]
    assert best == pytest.approx([scores.max()], abs=1e-9)
    some = every[int(rng.integers(len(every)))]
    assert path_score(p[None], a, [some], [n]) == pytest.approx([brute_score(p, a, some)])
    found = expectations(p[None], a, [n])
    tokens, edges = np.zeros((n, k)), np.zeros((k + 2, k + 2))
    for y, weight in zip(every, weights, strict=True):
        way = [k, *y, k + 1]
        for t, label in enumerate(y):
            tokens[t, label] += weight
        for i, j in pairwise(way):
            edges[i, j] += weight
    assert found.tokens[0] == pytest.approx(tokens, abs=1e-9)
    assert found.edges[0] == pytest.approx(edges, abs=1e-9)
    assert found.log_partition == pytest.approx([total], abs=1e-9)


def test_padding_changes_nothing_whatever_it_holds() -> None:
    rng = np.random.default_rng(1)
    k, lengths = 3, [0, 1, 4, 7]
    a = rng.normal(size=(k + 2, k + 2))
    alone = [rng.normal(size=(n, k)) for n in lengths]
    for filler in (0.0, 1e6, np.nan, -np.inf):
        for steps in (7, 12):
            p = np.full((4, steps, k), filler)
            for row, own in zip(p, alone, strict=True):
                row[: len(own)] = own
            y = np.full((4, steps), 99)
            for row, n in zip(y, lengths, strict=True):
                row[:n] = np.arange(n) % k
            together = log_partition(p, a, lengths)
            found = expectations(p, a, lengths)
            path, best = viterbi(p, a, lengths)
            scores = path_score(p, a, y, lengths)
            for i, (own, n) in enumerate(zip(alone, lengths, strict=True)):
                assert together[i] == log_partition(own[None], a, [n])[0]
                lone = expectations(own[None], a, [n])
                assert np.array_equal(found.tokens[i, :n], lone.tokens[0])
                assert not found.tokens[i, n:].any()
                assert found.edges[i] == pytest.approx(lone.edges[0], abs=1e-12)
                way, score = viterbi(own[None], a, [n])
                assert path[i, :n].tolist() == way[0].tolist()
                assert best[i] == score[0]
                alone_score = path_score(own[None], a, y[i : i + 1, :n], [n])[0]
                assert scores[i] == pytest.approx(alone_score, abs=1e-12)


def test_a_forbidden_step_is_never_taken() -> None:
    a = np.zeros((4, 4))
    a[0, 1] = -np.inf
    p = np.tile([0.0, 5.0], (1, 6, 1))
    p[0, 0] = [9.0, 0.0]
    path, _ = viterbi(p, a, [6])
    assert "01" not in "".join(map(str, path[0]))
    found = expectations(p, a, [6])
    assert found.edges[0, 0, 1] == 0
    assert found.tokens[0].sum(1) == pytest.approx(np.ones(6))


def test_a_sequence_of_8000_tokens_stays_finite() -> None:
    rng = np.random.default_rng(2)
    p, a = rng.normal(0, 20, (1, 8_000, 2)), rng.normal(0, 3, (4, 4))
    found = expectations(p, a, [8_000])
    assert np.isfinite(found.log_partition).all()
    assert found.tokens[0].sum(1) == pytest.approx(np.ones(8_000), abs=1e-6)
    assert viterbi(p, a, [8_000])[1] <= found.log_partition


@pytest.mark.parametrize(
    ("emissions", "transitions", "lengths"),
    [
        (np.zeros((1, 3, 2)), np.zeros((3, 3)), [3]),
        (np.zeros((1, 3, 2)), np.zeros((4, 4)), [4]),
        (np.zeros((1, 3, 2)), np.zeros((4, 4)), [-1]),
        (np.zeros((3, 2)), np.zeros((4, 4)), [3]),
        (np.zeros((2, 3, 2)), np.zeros((4, 4)), [3]),
    ],
)
def test_what_does_not_fit_is_refused(
    emissions: np.ndarray, transitions: np.ndarray, lengths: list[int]
) -> None:
    with pytest.raises(ValueError):
        log_partition(emissions, transitions, lengths)


def test_a_label_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="label"):
        path_score(np.zeros((1, 2, 2)), np.zeros((4, 4)), [[0, 2]], [2])
