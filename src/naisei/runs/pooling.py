"""Metrics over several runs: a configuration under several seeds, pooled with intervals by cluster
and seed; and a metric across runs, against a setting or the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.compare import LoadedRun, same_definitions
from naisei.runs.frozen import flattened
from naisei.runs.significance import holm, paired_difference, permutation_test
from naisei.runs.statistics import (
    ALL_EQUAL,
    NO_INTERVAL,
    Floats,
    cluster_sums,
    cluster_worth,
    interval,
    jackknife_variance,
    student_quantile,
)
from naisei.runs.task import Metric, Summary, Table
from naisei.runs.words import worded

#: Reasons that follow from the settings, so that undefined values are known beforehand.
_BY_SETTING = ("k = ", "no model was called")
#: Seed → the summary of its run.
Seeds = Mapping[int, Summary]


def pooled_metric(name: str, seeds: Seeds, against: Seeds | None = None) -> Metric:
    """Return the mean over seeds and over the units scored under every seed; with `against`, the
    mean of the paired differences from it, over the seeds of both. For one seed, return the run's
    own metric or `paired_difference`.

    The variance is that over clusters (of means over seeds) plus that over seeds (of means over
    units), each by leaving one out; Student's quantile has Satterthwaite's degrees of freedom. The
    common part counts twice, so the interval is conservative (Cameron, Gelbach & Miller 2011,
    Journal of Business & Economic Statistics 29, 238-249). NaN if nothing is scored. n is the
    number of units; `per_unit` holds their means over seeds.
    """
    shared = [seed for seed in seeds if against is None or seed in against]
    found = [next((m for m in seeds[seed].metrics if m.name == name), None) for seed in shared]
    if len(found) == 1 and found[0] is not None and against is None:
        return found[0]
    units = _scored_units(
        name, [seeds[s] for s in shared] + [(against or seeds)[s] for s in shared]
    )
    if not units:
        return Metric(name, nan, reason="no unit has this under every seed")
    grid = _grid(name, units, [seeds[seed] for seed in shared])
    share = all(m is not None and m.share for m in found)
    least, most = found[0].bounds if found[0] is not None else (-inf, inf)
    if against is not None:
        least, most = least - most, most - least
    of = seeds[shared[0]].clusters()
    if against is not None:
        base = _grid(name, units, [against[seed] for seed in shared])
        if len(shared) == 1:  # as in `naisei runs compare`
            clusters = [of[unit] for unit in units]
            d = paired_difference(base[0], grid[0], clusters=clusters, share=share, width=most)
            each = tuple(grid[0] - base[0])
            return Metric(name, d.value, d.low, d.high, d.n, d.reason, each)
        grid = grid - base
    bare = Metric(name, float(grid.mean()), n=len(units), per_unit=tuple(grid.mean(axis=0)))
    reach, reason = _reach(grid, [of[unit] for unit in units])
    low, high = bare.value - reach, bare.value + reach
    if share and reason == ALL_EQUAL and against is None:
        low, high = interval(bare.per_unit, clusters=[of[u] for u in units], share=True)
        reason = ""
    low, high = max(low, least), min(high, most)
    return replace(bare, low=nan if reason else low, high=nan if reason else high, reason=reason)


def _scored_units(name: str, summaries: Sequence[Summary]) -> list[str]:
    """Return the units with a value of the metric in every given run."""
    columns = [summary.per_unit(name) for summary in summaries]
    first = columns[0] if columns else {}
    return [u for u in first if all(u in c and not isnan(c[u]) for c in columns)]


def _grid(name: str, units: Sequence[str], summaries: Sequence[Summary]) -> Floats:
    """Return values of shape (runs, units)."""
    columns = [summary.per_unit(name) for summary in summaries]
    return np.array([[column[unit] for unit in units] for column in columns])


def _reach(grid: Floats, clusters: Sequence[str]) -> tuple[float, str]:
    """Return the half-width of the interval of the mean of a grid (seeds × units), or the reason
    why there is none."""
    sums, sizes = cluster_sums(grid.mean(axis=0), clusters)
    if len(sums) < 2:
        return nan, NO_INTERVAL
    parts = [(jackknife_variance(sums, sizes), max(1.0, cluster_worth(sizes) - 1))]
    if len(grid) > 1:
        seeds = grid.mean(axis=1)
        parts.append((jackknife_variance(seeds, np.ones_like(seeds)), len(seeds) - 1))
    variance = sum(v for v, _ in parts)
    if variance == 0:
        return nan, ALL_EQUAL
    freedom = variance**2 / sum(v**2 / df for v, df in parts)
    return student_quantile(0.975, max(1, int(freedom + 1e-9))) * sqrt(variance), ""


def study_tables(rows: Mapping[str, Seeds], names: Sequence[str], seed: int) -> tuple[Table, ...]:
    """Return the standard tables of a study: a line per metric and row, pooled over the row's
    seeds; then differences from the first row, paired by unit and seed, with p-values
    Holm-adjusted over the table.

    names: names of the metrics. A metric that is not a mean over units, or whose definition
    differs in another row, has no difference.
    """
    pooled = {name: {label: pooled_metric(name, rows[label]) for label in rows} for name in names}
    lines, undefined = [], dict[str, list[str]]()
    for name, found_in in pooled.items():
        if any(m.n for m in found_in.values()):
            lines += [
                (name, label, m.value, m.low, m.high, len(rows[label]), m.n)
                for label, m in found_in.items()
            ]
        elif (reason := _why_undefined(name, rows)) and not reason.startswith(_BY_SETTING):
            undefined.setdefault(reason, []).append(name)
    columns = ("metric", "configuration", "value", "low", "high", "seeds", "n")
    notes = [
        say(
            "95 % 区間は、場面などのクラスタと、複数あればシードの両方にわたる",
            "95 % intervals over clusters (scenes) and, where there are several, over seeds",
        )
    ]
    notes += [f"{worded(why)}: {', '.join(which)}" for why, which in undefined.items()]
    tables = [Table("Results", columns, tuple(lines), "; ".join(notes))]
    first, *others = rows
    found = [
        (name, label, m, _p_value(m, rows[label], rows[first], seed))
        for name in names
        for label in others
        if _definitions(name, rows[label]) == _definitions(name, rows[first])
        and (m := pooled_metric(name, rows[label], rows[first])).n
    ]
    adjusted = holm([p for *_, p in found])
    if found:
        heads = ("metric", "configuration", "difference", "low", "high")
        tables.append(
            Table(
                f"Difference from {first} (row − {first})",
                (*heads, "p", "p (Holm)", "n"),
                tuple(
                    (name, label, m.value, m.low, m.high, p, by_holm, m.n)
                    for (name, label, m, p), by_holm in zip(found, adjusted, strict=True)
                ),
                say(
                    "件とシードの両方で対応のある差。p はクラスタごとの符号反転の並べ替え検定",
                    "paired by unit and seed; p: sign-flip permutation test by cluster",
                ),
            )
        )
    return tuple(tables)


def _why_undefined(name: str, rows: Mapping[str, Seeds]) -> str:
    """Return why a metric is undefined in all rows; "" if no run has it."""
    found = (m for seeds in rows.values() for s in seeds.values() for m in s.metrics)
    return next((m.reason for m in found if m.name == name and m.reason), "")


def _definitions(name: str, seeds: Seeds) -> list[Mapping[str, JsonValue]]:
    found = (m.definition for s in seeds.values() for m in s.metrics if m.name == name)
    return [d for n, d in enumerate(found) if n == 0]


def _p_value(difference: Metric, seeds: Seeds, against: Seeds, seed: int) -> float:
    shared = [seeds[s] for s in seeds if s in against] + [against[s] for s in seeds if s in against]
    of = shared[0].clusters()
    units = _scored_units(difference.name, shared)
    clusters = [of[unit] for unit in units]
    return permutation_test(difference.per_unit, clusters=clusters, seed=seed)


#: Keys that differ between runs but are not settings.
_APART = ("seed", "models")


def across_runs(loaded: Sequence[LoadedRun], metric: str, x: str = "") -> Table:
    """Return a line for each value of a setting, with the 95 % interval. Runs that differ only in
    the seed are pooled; runs that differ in other settings get separate lines.

    Args:
        x: the setting, by its path (`rules.quota`) or the end of it (`quota`), or `seed`; by
            default the only one in which the runs differ.

    Raises:
        InputError: fewer than two runs, none of them with the metric or the setting, several
            settings to choose from, or metrics that mean different things.
    """
    if len(loaded) < 2:
        raise InputError(
            say("実行が二つ以上必要です", "two runs or more are needed"), place="naisei runs chart"
        )
    same_definitions(loaded, [metric])
    flat = [dict(flattened(run.frozen.config)) for run in loaded]
    apart = varied(loaded)
    x = _setting(x, apart, list(flat[0]))
    others = [k for k in apart if k not in (x, "seed")]
    groups: dict[tuple[str, ...], dict[Any, dict[int, Summary]]] = {}
    for run, settings in zip(loaded, flat, strict=True):
        name = tuple(f"{k.rpartition('.')[2]} {settings.get(k)}" for k in others)
        at = groups.setdefault(name, {}).setdefault(_value(settings.get(x)), {})
        seed = 0 if x == "seed" else int(str(settings.get("seed") or 0))
        if seed in at:
            raise InputError(
                say("同じ設定とシードの実行が二つあります", "two runs have one setting and seed"),
                place=run.name,
                remedy=say("どちらかを外してください", "leave one out"),
            )
        at[seed] = run.stored.summary
    lines = [
        (", ".join(name) or metric, value, m.value, m.low, m.high, len(seeds), m.n)
        for name, values in groups.items()
        for value, seeds in sorted(values.items(), key=lambda each: (str(type(each[0])), each[0]))
        if (m := pooled_metric(metric, seeds)).value == m.value
    ]
    if not lines:
        raise InputError(
            say(f"指標 {metric} の値がありません", f"no run has a value of {metric}"),
            place="--metric",
            remedy=", ".join(m.name for m in loaded[0].stored.summary.metrics),
        )
    if len(groups) == 1 and not all(isinstance(row[1], int | float) for row in lines):
        lines = [(str(row[1]), row[1], *row[2:]) for row in lines]
    columns = ("configuration", x, metric, f"{metric} low", f"{metric} high", "seeds", "n")
    title = f"{loaded[0].frozen.system}: {metric}"
    return Table(title, columns, tuple(lines))


def varied(loaded: Sequence[LoadedRun]) -> list[str]:
    """Return the paths of the settings in which runs differ."""
    flat = [dict(flattened(run.frozen.config)) for run in loaded]
    keys = dict.fromkeys(key for each in flat for key in each)
    return [k for k in keys if any(each.get(k) != flat[0].get(k) for each in flat)]


def _setting(given: str, apart: list[str], known: list[str]) -> str:
    usual = [key for key in apart if key.partition(".")[0] not in _APART]
    fitting = [key for key in known if given in (key, key.rpartition(".")[2])] if given else usual
    if not given and not fitting and "seed" in apart:
        return "seed"
    if len(fitting) == 1:
        return fitting[0]
    raise InputError(
        say("横軸にする設定を一つ選んでください", "choose one setting for the x axis"),
        place="--x",
        remedy=", ".join(sorted(fitting) or apart),
    )


def _value(found: Any) -> Any:
    """Return the value as a number, or else as text."""
    return found if isinstance(found, int | float) and not isinstance(found, bool) else str(found)
