"""The CRF against all its labellings, written out."""

from __future__ import annotations

import numpy as np
import pytest

from emphasis.brute_crf import written_out
from naisei.emphasis.crf import bundles, likeliest, marginals


@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("n", range(1, 9))
def test_the_likeliest_labels_are_those_of_the_highest_score(n: int, scale: float) -> None:
    rng = np.random.default_rng(n)
    p, a = rng.normal(0, scale, (n, 2)), rng.normal(0, 2, (4, 4))
    scores = written_out(p, a).scores
    assert tuple(likeliest(p, a)) == max(scores, key=lambda y: scores[y])


def test_of_equal_labellings_the_lower_one_and_of_nothing_none() -> None:
    assert likeliest(np.zeros((3, 2)), np.zeros((4, 4))) == [False] * 3
    assert likeliest(np.zeros((0, 2)), np.zeros((4, 4))) == []


def test_a_forbidden_step_is_never_taken() -> None:
    a = np.zeros((4, 4))
    a[0, 1] = -np.inf
    scores = np.array([-9.0, *[5.0] * 5])
    assert likeliest(np.stack([np.zeros(6), scores], 1), a) == [True] * 6
    assert marginals([scores], a)[0] == pytest.approx(
        written_out(np.stack([np.zeros(6), scores], 1), a).positive
    )


@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_expectations_are_those_written_out_whatever_lies_beside_a_sequence(scale: float) -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 9, 30).tolist()
    scores = [rng.normal(0, scale, n) for n in lengths]
    a = rng.normal(0, 2, (4, 4))
    wanted = [written_out(np.stack([np.zeros(len(s)), s], 1), a) for s in scores]
    for found, one in zip(marginals(scores, a), wanted, strict=True):
        assert found == pytest.approx(one.positive, abs=1e-9)
    edges, total = np.zeros((4, 4)), 0.0
    for bundle in bundles(lengths, room=50):
        said = bundle.expect(np.concatenate(scores), a)
        edges += said.edges
        total += said.log_partition
    assert edges == pytest.approx(sum(one.edges for one in wanted), abs=1e-8)
    assert total == pytest.approx(sum(one.log_partition for one in wanted), rel=1e-12)


def test_a_sequence_of_8000_tokens_stays_finite() -> None:
    rng = np.random.default_rng(2)
    scores, a = rng.normal(0, 20, 8_000), rng.normal(0, 3, (4, 4))
    (found,) = marginals([scores], a)
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()
    assert len(likeliest(np.stack([np.zeros(8_000), scores], 1), a)) == 8_000
