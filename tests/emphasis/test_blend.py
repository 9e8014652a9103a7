"""Taggers weighed against each other."""

from __future__ import annotations

import numpy as np
import pytest

from naisei.emphasis.taggers.calibration import Blend, blended


def test_the_weights_that_made_the_labels_are_found() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(-1, 2, (2, 40_000))
    truth = 1 / (1 + np.exp(-(1.2 * x + 0.4 * y - 0.7)))
    p, q = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(-y))
    found = blended([p, q], rng.random(len(truth)) < truth)
    assert (*found.weights, found.shift) == pytest.approx((1.2, 0.4, -0.7), abs=0.06)
    assert found.apply(p, q) == pytest.approx(truth, abs=0.06)


def test_a_tagger_that_knows_nothing_is_not_heard() -> None:
    rng = np.random.default_rng(1)
    truth = rng.uniform(0.01, 0.99, 20_000)
    noise = rng.uniform(0.01, 0.99, 20_000)
    found = blended([noise, truth], rng.random(20_000) < truth)
    assert found.weights == pytest.approx((0, 1), abs=0.06)


def test_nothing_to_learn_from_leaves_equal_weights() -> None:
    assert blended([[0.2, 0.3], [0.1, 0.9]], [False, False]) == Blend.even(2)
    assert Blend.even(2).apply([0.5], [0.5]) == pytest.approx([0.5])
    assert np.isfinite(Blend.even(2).apply([0.0, 1.0], [1.0, 0.0])).all()
