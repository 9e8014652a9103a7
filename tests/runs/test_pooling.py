"""Figures pooled over seeds: their means, and intervals that know both clusters and seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from naisei.runs.pooling import pooled_metric, study_tables
from naisei.runs.significance import paired_difference
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Summary


def summary(values: list[float], clusters: list[str], *, share: bool = False) -> Summary:
    units = [f"u{n}" for n in range(len(values))]
    metric = mean_metric("m", values, clusters=clusters, share=share, least=-np.inf, paired=True)
    return Summary((metric,), extra={"units": units, "clusters": clusters})


def test_an_interval_covers_what_varies_between_clusters_and_seeds() -> None:
    random, held = np.random.default_rng(0), 0
    clusters = [f"c{n // 3}" for n in range(60)]
    for _ in range(200):
        scenes, seeds = random.normal(0, 1, 20), random.normal(0, 0.5, 5)
        made = {
            s: summary(
                [float(scenes[n // 3] + seeds[s] + random.normal()) for n in range(60)], clusters
            )
            for s in range(5)
        }
        m = pooled_metric("m", made)
        held += m.low <= 0 <= m.high
    assert held / 200 >= 0.93


def test_one_seed_is_its_own_run_and_equal_shares_have_a_width() -> None:
    alone = summary([0.0, 1.0, 1.0], ["a", "b", "c"], share=True)
    assert pooled_metric("m", {7: alone}) == alone.metrics[0]
    same = summary([1.0, 1.0, 1.0], ["a", "b", "c"], share=True)
    m = pooled_metric("m", {0: same, 1: same})
    assert m.value == m.high == 1 and m.low < 1


def test_differences_are_paired_by_unit_and_seed() -> None:
    clusters = [f"c{n}" for n in range(20)]
    base = {s: summary([n + 100.0 * s for n in range(20)], clusters) for s in (0, 1, 2)}
    more = {s: summary([n + 100.0 * s + 1 + n % 2 for n in range(20)], clusters) for s in (0, 1, 2)}
    d = pooled_metric("m", more, base)
    assert d.value == pytest.approx(1.5) and d.n == 20 and 1 < d.low < d.high < 2
    results, differences = study_tables({"base": base, "more": more}, ["m", "none"], 0)
    assert [row[:2] for row in results.rows] == [("m", "base"), ("m", "more")]
    assert differences.rows[0][5] < 0.001
    assert math.isnan(pooled_metric("none", base).value)


def test_of_one_seed_a_study_says_what_compare_says() -> None:
    clusters = [f"c{n}" for n in range(4)]
    base, more = ({0: summary([v] * 4, clusters, share=True)} for v in (1.0, 0.0))
    _, differences = study_tables({"base": base, "more": more}, ["m"], 0)
    d = paired_difference([1.0] * 4, [0.0] * 4, clusters=clusters, share=True)
    assert differences.rows[0][2:6] == (d.value, d.low, d.high, d.p) and d.high > 0
