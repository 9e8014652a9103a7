"""Statistics against brute force and figures worked out by hand."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
from benchmarks.intervals import CORRELATIONS, PAIRS, SHARES, SIZES, covered, covered_difference
from hypothesis import given
from hypothesis import strategies as st

from naisei.runs.significance import (
    Difference,
    holm,
    paired_difference,
    permutation_test,
    wilcoxon_signed_rank,
)
from naisei.runs.statistics import (
    discounted_within,
    interval,
    mean_metric,
    pass_at_k,
    pass_hat_k,
    student_quantile,
    succeeded_within,
    wilson_interval,
)


def test_sequential_pass_and_its_discount_by_hand() -> None:
    # Solved at trial 1 in 1 step, 2 in 3, 3 in 2, never.
    first, steps = [1, 2, 3, None], [1, 3, 2, None]
    assert succeeded_within(first, 1).mean() == pytest.approx(1 / 4, abs=1e-12)
    assert succeeded_within(first, 3).mean() == pytest.approx(3 / 4, abs=1e-12)
    assert discounted_within(first, steps, 1, alpha=0.9).mean() == pytest.approx(0.25, abs=1e-12)
    # (1 + 0.81 + 0.9) / 4
    assert discounted_within(first, steps, 3, alpha=0.9).mean() == pytest.approx(0.6775, abs=1e-12)


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
    assert permutation_test(differences, clusters=None) == pytest.approx(
        _flipped(differences), abs=1e-12
    )


def test_sampled_permutations_come_near_the_exact_value() -> None:
    rng = np.random.default_rng(3)
    few = rng.normal(0.4, 1, size=16)
    exact = permutation_test(few, clusters=None)
    # A seventeenth difference of almost nothing forces sampling.
    sampled = permutation_test([*few, 1e-12], clusters=None, resamples=40_000)
    assert sampled == pytest.approx(exact, abs=0.01)


def test_clusters_are_flipped_whole() -> None:
    differences = [1.0, 1.0, 1.0, 0.5, 0.5]
    clusters = ["a", "a", "a", "b", "b"]
    assert permutation_test(differences, clusters=clusters) == pytest.approx(_flipped([3.0, 1.0]))


def test_references_by_scipy_and_statsmodels() -> None:
    x = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    # scipy.stats.t.interval(level, 7, mean, sem)
    assert interval(x, clusters=None) == pytest.approx((1.5773000431592457, 6.172699956840754))
    eighty = (2.5001216677213556, 5.249878332278644)
    assert interval(x, clusters=None, level=0.8) == pytest.approx(eighty)
    # statsmodels' proportion_confint(hits, n, method="wilson")
    assert interval([1.0] * 17, clusters=None, share=True) == pytest.approx((0.8156818649911481, 1))
    assert interval([0.0] * 30, clusters=None, share=True) == pytest.approx((0, 0.1135133931739688))
    assert wilson_interval(7, 20) == pytest.approx((0.18119182410108203, 0.5671457233147638))
    for df, t in ((1, 12.706204736174694), (2, 4.302652729749462), (15, 2.131449545559776)):
        assert student_quantile(0.975, df) == pytest.approx(t)  # scipy.stats.t.ppf
    d = [0.3, -0.4, 1.2, 0.9, -0.1, 2.0, 0.7]
    # scipy.stats.permutation_test(…, permutation_type="samples", n_resamples=inf) and wilcoxon
    assert permutation_test(d, clusters=None) == pytest.approx(0.09375)
    assert wilcoxon_signed_rank([0.0] * 7, d, clusters=None) == pytest.approx(0.109375)
    # statsmodels' multipletests(…, method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert math.isnan(holm([0.01, math.nan])[1])


CLUSTERED = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 4).map(lambda i: i / 4)), min_size=1
)


@given(CLUSTERED, st.booleans(), st.randoms())
def test_an_interval_holds_its_estimate_grows_with_its_level_and_knows_no_order(
    units: list[tuple[int, float]], share: bool, random: Random
) -> None:
    def bounds(units: list[tuple[int, float]], level: float) -> tuple[float, float]:
        labels, values = zip(*units, strict=True)
        return interval(values, clusters=labels, share=share, level=level)

    (low, high), mean = bounds(units, 0.95), sum(v for _, v in units) / len(units)
    own = {label: [v for c, v in units if c == label] for label, _ in units}
    if len(own) < 2 or (not share and len({sum(v) / len(v) for v in own.values()}) == 1):
        assert math.isnan(low) and math.isnan(high)
        return
    assert low - 1e-9 <= mean <= high + 1e-9 and low < high
    wider = bounds(units, 0.99)
    assert wider[0] <= low + 1e-9 and high <= wider[1] + 1e-9
    shuffled = random.sample(units, len(units))
    assert bounds(shuffled, 0.95) == pytest.approx((low, high), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.booleans()), min_size=1), st.randoms()
)
def test_a_difference_of_shares_holds_its_value_and_has_a_width(
    units: list[tuple[int, bool, bool]], random: Random
) -> None:
    def found(units: list[tuple[int, bool, bool]]) -> Difference:
        labels, a, b = zip(*units, strict=True)
        return paired_difference(a, b, clusters=labels, share=True)

    d, other = found(units), found(random.sample(units, len(units)))
    if len({label for label, *_ in units}) < 2:
        assert math.isnan(d.low) and d.reason
        return
    assert -1 <= d.low <= d.value <= d.high <= 1 and d.low < d.high and not d.reason
    assert (d.low, d.high, d.p) == pytest.approx((other.low, other.high, other.p))


def test_clusters_widen_the_interval_when_units_repeat() -> None:
    values = [float(i % 2) for i in range(20) for _ in range(10)]
    clusters = [i for i in range(20) for _ in range(10)]
    for share in (False, True):
        plain = interval(values, clusters=None, share=share)
        clustered = interval(values, clusters=clusters, share=share)
        assert clustered[1] - clustered[0] > 2 * (plain[1] - plain[0])
        # Units that repeat within a cluster are worth one unit.
        alone = interval([float(i % 2) for i in range(20)], clusters=None, share=share)
        assert clustered == pytest.approx(alone, abs=0.01)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan, 0.0]])
def test_no_interval_where_there_is_no_spread_to_see(values: list[float], share: bool) -> None:
    assert all(math.isnan(b) for b in interval(values, clusters=None, share=share))


def test_equal_counts_have_no_interval_and_one_cluster_has_none_either() -> None:
    equal = mean_metric("questions", [2.0] * 9, clusters=None)
    alone = mean_metric("pass@1", [0.0, 1.0, 1.0], clusters=["a"] * 3, share=True)
    for metric in (equal, alone):
        assert metric.value == metric.value and math.isnan(metric.low) and metric.reason
    assert equal.reason != alone.reason


def test_what_has_no_value_is_left_out_but_keeps_its_place() -> None:
    metric = mean_metric("x", [0.0, None, 1.0], clusters=["a", "b", "c"], share=True, paired=True)
    assert (metric.value, metric.n) == (0.5, 2)
    assert metric.per_unit[::2] == (0.0, 1.0) and math.isnan(metric.per_unit[1])


@pytest.mark.slow
def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    for size in SIZES:
        for m in (5, 10, 20, 40):
            held = [covered(p, r, size, m, 600) for p in SHARES for r in CORRELATIONS]
            held += [covered_difference(pair, size, m, 300) for pair in PAIRS]
            # Three standard errors of 600 samples below 0.93.
            assert min(held) > 0.90, (size, m, held)


def test_paired_difference() -> None:
    d = paired_difference([0, 0, 1, 0], [1, 1, 1, math.nan], clusters=None)
    assert (d.value, d.n) == (pytest.approx(2 / 3), 3)
    assert d.low <= d.value <= d.high
    assert d.p == pytest.approx(0.5)
    empty = paired_difference([], [], clusters=None)
    assert math.isnan(empty.value) and empty.reason


def test_an_undefined_mean_says_why() -> None:
    metric = mean_metric(
        "pass@3", [math.nan] * 2, clusters=None, reason="k = 3, but 2 trials were run"
    )
    assert math.isnan(metric.value) and metric.reason == "k = 3, but 2 trials were run"
    assert mean_metric("x", [], clusters=None).reason == "no scored unit"
    assert mean_metric("x", [1.0, 0.0], clusters=None, reason="unused").reason == ""


def test_an_interval_keeps_to_what_the_metric_can_be() -> None:
    wrong = mean_metric("wrong", [1.0, 1.0, 0.0, 1.0], clusters=None, most=1)
    assert wrong.high == 1 and wrong.bounds == (0, 1)
    few = mean_metric("questions", [0.0, 0.0, 3.0], clusters=None)
    assert few.low == 0 < few.high < 9
    signed = mean_metric("reading", [-1.0, 2.0, 0.0], clusters=None, least=-2, most=2)
    assert signed.low < 0
    with pytest.raises(ValueError):
        mean_metric("questions", [-1.0, 1.0], clusters=None)
    d = paired_difference([0.0, 0, 1], [1.0, 1, 1], clusters=None, width=1)
    assert d.high == 1
