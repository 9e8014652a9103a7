"""Statistics against brute force and figures worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.runs.significance import holm, mcnemar_exact, paired_difference, permutation_test
from naisei.runs.statistics import (
    bootstrap_interval,
    discounted_within,
    mean_metric,
    pass_at_k,
    pass_hat_k,
    succeeded_within,
)

NO_P = math.nan


def test_sequential_pass_and_its_discount_by_hand() -> None:
    # Solved at trial 1 in 1 step, 2 in 3, 3 in 2, never.
    first, steps = [1, 2, 3, None], [1, 3, 2, None]
    assert succeeded_within(first, 1).mean() == pytest.approx(1 / 4, abs=1e-12)
    assert succeeded_within(first, 3).mean() == pytest.approx(3 / 4, abs=1e-12)
    assert discounted_within(first, steps, 1, alpha=0.9).mean() == pytest.approx(0.25, abs=1e-12)
    # (1 + 0.81 + 0.9) / 4
    assert discounted_within(first, steps, 3, alpha=0.9).mean() == pytest.approx(0.6775, abs=1e-12)


@given(st.lists(st.none() | st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1))
def test_the_discounted_form_is_that_of_the_paper(outcomes: list[tuple[int, int] | None]) -> None:
    """DPass@k = Pass@k · E[α^(s−1) | t* ≤ k]."""
    first = [o and o[0] for o in outcomes]
    steps = [o and o[1] for o in outcomes]
    passed = succeeded_within(first, 3).mean()
    discounts = [0.9 ** (o[1] - 1) for o in outcomes if o and o[0] <= 3]
    expected = passed * sum(discounts) / len(discounts) if discounts else 0.0
    assert discounted_within(first, steps, 3, alpha=0.9).mean() == pytest.approx(
        expected, abs=1e-12
    )


def test_more_k_than_trials_is_undefined() -> None:
    assert np.isnan(succeeded_within([1, None], 3, trials=2)).all()
    assert math.isnan(pass_at_k(2, 1, 3))
    assert math.isnan(pass_hat_k(2, 1, 3))


@pytest.mark.parametrize("alpha", [0, -1, 1.1])
def test_alpha_out_of_range(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        discounted_within([1], [1], 1, alpha=alpha)


@given(st.integers(1, 8), st.data())
def test_independent_estimators_equal_the_count_over_all_subsets(
    n: int, data: st.DataObject
) -> None:
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    outcomes = [1] * c + [0] * (n - c)
    subsets = list(itertools.combinations(outcomes, k))
    any_, all_ = (sum(map(f, subsets)) / len(subsets) for f in (any, all))
    assert pass_at_k(n, c, k) == pytest.approx(any_, abs=1e-12)
    assert pass_hat_k(n, c, k) == pytest.approx(all_, abs=1e-12)


def _flipped(differences: list[float]) -> float:
    observed = abs(sum(differences))
    totals = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(t >= observed - 1e-9 for t in totals) / len(totals)


@given(st.lists(st.integers(-4, 4).map(lambda i: i / 4), min_size=1, max_size=9))
def test_permutation_test_equals_all_sign_patterns(differences: list[float]) -> None:
    assert permutation_test(differences) == pytest.approx(_flipped(differences), abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_mcnemar_is_the_sign_flip_test_of_successes(pairs: list[tuple[bool, bool]]) -> None:
    a, b = zip(*pairs, strict=True)
    differences = [float(y) - float(x) for x, y in pairs]
    assert mcnemar_exact(a, b) == pytest.approx(_flipped(differences), abs=1e-12)
    assert permutation_test(differences) == pytest.approx(mcnemar_exact(a, b), abs=1e-12)


def test_mcnemar_by_hand() -> None:
    # 6 discordant pairs, 5 to 1: 2 · (C(6,0) + C(6,1)) / 2^6
    a = [0, 0, 0, 0, 0, 1, 1]
    b = [1, 1, 1, 1, 1, 0, 1]
    assert mcnemar_exact(a, b) == pytest.approx(14 / 64, abs=1e-12)


def test_sampled_permutations_come_near_the_exact_value() -> None:
    rng = np.random.default_rng(3)
    few = rng.normal(0.4, 1, size=16)
    exact = permutation_test(few)
    # A seventeenth difference of almost nothing forces sampling.
    sampled = permutation_test([*few, 1e-12], resamples=40_000)
    assert sampled == pytest.approx(exact, abs=0.01)


def test_clusters_are_flipped_whole() -> None:
    differences = [1.0, 1.0, 1.0, 0.5, 0.5]
    clusters = ["a", "a", "a", "b", "b"]
    assert permutation_test(differences, clusters=clusters) == pytest.approx(_flipped([3.0, 1.0]))


def test_holm_by_hand() -> None:
    adjusted = holm([0.01, 0.04, 0.03, NO_P])
    assert adjusted[:3] == pytest.approx([0.03, 0.06, 0.06], abs=1e-12)
    assert math.isnan(adjusted[3])


def test_bootstrap_of_two_units_is_worked_out_by_hand() -> None:
    # Means 0, ½, 1 with probabilities ¼, ½, ¼: the 95 % quantiles are 0 and 1.
    assert bootstrap_interval([0, 1]) == (0.0, 1.0)


def test_bootstrap_is_seeded_and_covers_about_as_stated() -> None:
    rng = np.random.default_rng(0)
    hits = {"percentile": 0, "bca": 0}
    for _ in range(200):
        sample = rng.exponential(size=60)
        for method in hits:
            low, high = bootstrap_interval(sample, method=method, resamples=800)  # type: ignore[arg-type]
            hits[method] += low <= 1 <= high
    assert all(0.88 <= h / 200 <= 0.98 for h in hits.values()), hits
    assert bootstrap_interval(sample, seed=1) == bootstrap_interval(sample, seed=1)
    assert bootstrap_interval(sample, seed=1) != bootstrap_interval(sample, seed=2)


def test_clusters_widen_the_interval_when_units_repeat() -> None:
    values = [float(i % 2) for i in range(20) for _ in range(10)]
    clusters = [i for i in range(20) for _ in range(10)]
    plain, clustered = bootstrap_interval(values), bootstrap_interval(values, clusters=clusters)
    assert clustered[1] - clustered[0] > 2 * (plain[1] - plain[0])
    # Units that repeat within a cluster are worth one unit.
    alone = bootstrap_interval([float(i % 2) for i in range(20)])
    assert clustered == pytest.approx(alone)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan, 0.0]])
def test_no_interval_where_there_is_no_spread_to_see(values: list[float]) -> None:
    assert all(math.isnan(bound) for bound in bootstrap_interval(values))


def test_paired_difference() -> None:
    d = paired_difference([0, 0, 1, 0], [1, 1, 1, math.nan])
    assert (d.value, d.n) == (pytest.approx(2 / 3), 3)
    assert d.low <= d.value <= d.high
    assert d.p == pytest.approx(0.5)
    empty = paired_difference([], [])
    assert math.isnan(empty.value) and empty.reason


def test_an_undefined_mean_says_why() -> None:
    metric = mean_metric("pass@3", [math.nan, math.nan], reason="k = 3, but 2 trials were run")
    assert math.isnan(metric.value) and metric.reason == "k = 3, but 2 trials were run"
    assert mean_metric("x", []).reason == "no scored unit"
    assert mean_metric("x", [1.0, 0.0], reason="unused").reason == ""
