"""Learning: the minimiser on known functions, the sparse CRF on what it must be able to learn."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from emphasis.brute_crf import score, written_out
from naisei.emphasis.crf import BLOCKED, fit, minimise


def test_the_minimum_of_a_badly_scaled_bowl_is_found() -> None:
    scales = np.logspace(0, 4, 20)
    goal = np.linspace(-2, 3, 20)

    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float((scales * (x - goal) ** 2).sum()), 2 * scales * (x - goal)

    found = minimise(bowl, np.zeros(20), steps=1000, tolerance=1e-8)
    assert found == pytest.approx(goal, abs=1e-3)


def test_it_ends_when_the_steps_ran_out() -> None:
    def slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.exp(-x[0])), -np.exp(-x)

    few, more = (minimise(slope, np.zeros(1), steps=n)[0] for n in (1, 3))
    assert 0 < few < more


def test_its_slope_is_the_slope() -> None:
    """At the minimum found, the likelihood written out by hand is flat."""
    rng = np.random.default_rng(0)
    sequences = [rng.integers(2, 5, (n, 2)).astype(np.int32) for n in (1, 3, 5, 4)]
    labels = [rng.integers(0, 2, len(s)).astype(bool).tolist() for s in sequences]
    model = fit(sequences, labels, l2=0.5, steps=400, tolerance=1e-6)

    def loss(weights: np.ndarray, a: np.ndarray) -> float:
        total = 0.25 * float((weights**2).sum() + (a**2).sum())
        for s, y in zip(sequences, labels, strict=True):
            p = np.stack([np.zeros(len(s)), weights[s].sum(1)], 1)
            total += written_out(p, a).log_partition - score(p, a, tuple(map(int, y)))
        return total

    here = loss(model.weights, model.transitions)
    for code in range(2, 5):
        for step in (-0.2, 0.2):
            moved = model.weights.copy()
            moved[code] += step
            assert loss(moved, model.transitions) > here
    for i in range(4):
        for j in range(4):
            for step in (-0.2, 0.2):
                turned = model.transitions.copy()
                turned[i, j] += step
                assert loss(model.weights, turned) > here


def test_a_rare_feature_has_no_weight_and_a_telling_one_has() -> None:
    sequences = [np.array([[3, 8], [4, 8]], np.int32)] * 9 + [np.array([[5, 8]], np.int32)]
    labels = [[True, False]] * 9 + [[True]]
    model = fit(sequences, labels, l2=0.1)
    assert model.weights[5] == 0
    assert model.weights[3] > 0.2 > 0 > model.weights[4]
    assert model.best(sequences[:1]) == [[True, False]]
    marginals = model.marginals([sequences[0], np.zeros((0, 2), np.int32)])
    assert marginals[0][0] > 0.5 > marginals[0][1]
    assert len(marginals[1]) == 0


def test_it_is_the_same_each_time_and_batches_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from naisei.emphasis import crf

    rng = np.random.default_rng(5)
    sequences = [rng.integers(2, 40, (n, 3)).astype(np.int32) for n in rng.integers(0, 9, 30)]
    labels = [(s[:, 0] > 25).tolist() for s in sequences]
    one, two = fit(sequences, labels), fit(sequences, labels)
    assert np.array_equal(one.weights, two.weights)
    monkeypatch.setattr(crf, "_ROOM", 7)
    small = fit(sequences, labels)
    assert np.allclose(small.weights, one.weights, atol=1e-3)
    for a, b in zip(small.marginals(sequences), one.marginals(sequences), strict=True):
        assert a == pytest.approx(b, abs=1e-3)


def test_a_blocked_token_is_never_emphasised() -> None:
    free, blocked = [3, 0], [BLOCKED, 0]
    sequences = [np.array([free, blocked, free], np.int32), np.array([free] * 3, np.int32)] * 5
    model = fit(sequences, [[True, False, True], [True] * 3] * 5, l2=0.1)
    assert model.best(sequences[:2]) == [[True, False, True], [True] * 3]
    assert model.marginals(sequences)[0][1] < 1e-9


_CODE = """
import sys
import numpy as np
from naisei.emphasis.crf import fit
draw = np.random.default_rng(0)
sequences = [draw.integers(2, 300, (n, 8)).astype(np.int32) for n in range(1, 40)]
model = fit(sequences, [(draw.random(len(s)) < 0.3).tolist() for s in sequences])
sys.stdout.write((model.weights.tobytes() + model.transitions.tobytes()).hex())
"""


def test_the_same_bits_are_learnt_on_every_processor() -> None:
    ways = [("Prescott", ""), ("Haswell", "X86_V4"), ("SkylakeX", "X86_V3 X86_V4")]
    learnt = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CODE],
            env={**os.environ, "OPENBLAS_CORETYPE": blas, "NPY_DISABLE_CPU_FEATURES": without},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for blas, without in ways
    }
    assert len(learnt) == 1
