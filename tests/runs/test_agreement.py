"""Agreement against published examples, figures by hand, and the definition spelt out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkout import tool
from naisei.runs.significance import krippendorff_alpha

BLIND = tool("blind")
masi_distance = BLIND.masi_distance
set_precision, set_recall = BLIND.set_precision, BLIND.set_recall

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": examples A and C.
MEG, OWEN = "0100000010", "1110010000"
FOUR = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def units(*coders: str) -> list[list[str | None]]:
    return [[None if v == "." else v for v in unit] for unit in zip(*coders, strict=True)]


def test_two_observers_binary() -> None:
    found = krippendorff_alpha(units(MEG, OWEN), clusters=None)
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.n == 10
    assert math.isnan(found.low) and "15" in found.reason, "ten units are too few to resample"


def test_four_observers_nominal_with_gaps() -> None:
    found = krippendorff_alpha(units(*FOUR), clusters=None)
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11, "the unit with one value is left out"


def test_masi_by_hand() -> None:
    assert masi_distance({1, 2}, {2, 1}) == 0
    assert masi_distance(set(), set()) == 0
    assert masi_distance({1}, set()) == 1
    assert masi_distance({1}, {2}) == 1
    # Jaccard 2/3 of a subset; Jaccard 1/3 of an overlap.
    assert masi_distance({1, 2}, {1, 2, 3}) == pytest.approx(1 - 4 / 9)
    assert masi_distance({1, 2}, {2, 3}) == pytest.approx(1 - 1 / 9)


def plainly(table: list[list[Any]], distance: Any) -> float:
    """1 − D_o / D_e, pair by pair."""
    pairable = [u for u in table if len(u) >= 2]
    values = [v for u in pairable for v in u]
    observed = sum(
        distance(a, b) / (len(u) - 1) for u in pairable for a, b in itertools.permutations(u, 2)
    ) / len(values)
    expected = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    return 1 - observed / (expected / (len(values) * (len(values) - 1))) if expected else math.nan


@given(
    st.lists(
        st.lists(st.frozensets(st.integers(1, 3), max_size=3), min_size=0, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_alpha_with_masi_is_its_definition(table: list[list[frozenset[int]]]) -> None:
    found = krippendorff_alpha(table, distance=masi_distance, resamples=20, clusters=None)
    expected = plainly(table, masi_distance) if any(len(u) > 1 for u in table) else math.nan
    assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert found.reason


def test_undefined_alpha_has_a_reason() -> None:
    once = krippendorff_alpha([["a", None], [None, "b"]], clusters=None)
    assert math.isnan(once.value)
    assert "twice" in once.reason
    same = krippendorff_alpha([["a", "a"], ["a", "a"]], clusters=None)
    assert math.isnan(same.value)
    assert "equal" in same.reason
    assert math.isnan(krippendorff_alpha([], clusters=None).value)


def test_clusters_are_drawn_whole() -> None:
    """Ten copies of a unit in one cluster say no more than one."""
    table = units(MEG * 2, OWEN * 2)
    alone = krippendorff_alpha(table, clusters=None)
    copied = krippendorff_alpha(
        [u for u in table for _ in range(10)], clusters=[i for i in range(20) for _ in range(10)]
    )
    naive = krippendorff_alpha([u for u in table for _ in range(10)], clusters=None)
    assert copied.high - copied.low == pytest.approx(alone.high - alone.low, rel=0.1)
    assert naive.high - naive.low < 0.6 * (copied.high - copied.low)
    one = krippendorff_alpha(table, clusters=["x"] * 20)
    assert not math.isnan(one.value)
    assert math.isnan(one.low)


def test_precision_and_recall_by_hand() -> None:
    marks, truth = [{1, 2}, {3}, set()], [{1}, {3, 4, 5}, {6}]
    precision, recall = (
        set_precision(marks, truth, clusters=None),
        set_recall(marks, truth, clusters=None),
    )
    assert (precision.value, precision.n) == (pytest.approx(2 / 3), 3)
    assert (recall.value, recall.n) == (pytest.approx(2 / 5), 5)
    by_item = set_precision(marks, truth, average="items", clusters=None)
    assert (by_item.value, by_item.n) == (pytest.approx((1 / 2 + 1) / 2), 2)
    found = set_recall(marks, truth, average="items", clusters=None)
    assert (found.value, found.n) == (pytest.approx((1 + 1 / 3 + 0) / 3), 3)
    assert precision.low < precision.value < precision.high


def test_nothing_marked_is_undefined() -> None:
    for metric in (
        set_precision([set()], [{1}], clusters=None),
        set_recall([{1}], [set()], clusters=None),
    ):
        assert math.isnan(metric.value)
        assert metric.reason
        assert metric.n == 0
    assert set_recall([set()], [{1}], clusters=None).value == 0


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        set_precision([{1}], [], clusters=None)
    with pytest.raises(ValueError, match="zip"):
        krippendorff_alpha([["a", "b"]], clusters=[])
