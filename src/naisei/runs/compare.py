"""Runs side by side: two of them compared, and the rows of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen
from naisei.runs.report import StoredSummary, plain_number, stored_summary
from naisei.runs.significance import Difference, holm, paired_difference, wilcoxon_signed_rank
from naisei.runs.task import Table


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric of two runs. holm: the p-value adjusted for all lines of the comparison.
    wilcoxon: that of the signed-rank test, not adjusted."""

    metric: str
    first: str
    second: str
    difference: Difference
    holm: float
    wilcoxon: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Lines for each metric and each pair of runs, and warnings that must be read."""

    lines: tuple[PairedMetric, ...]
    warnings: tuple[str, ...]

    def table(self) -> Table:
        return Table(
            "Differences (second − first)",
            (
                *("metric", "first", "second", "difference", "low", "high"),
                *("p", "p (Holm)", "p (Wilcoxon)", "n"),
            ),
            tuple(
                (x.metric, x.first, x.second, d.value, d.low, d.high, d.p, x.holm, x.wilcoxon, d.n)
                for x in self.lines
                for d in [x.difference]
            ),
            note=say(
                "両方で採点された件ごとの差 (対応あり)。95 % ブートストラップ区間、"
                "符号反転の並べ替え検定 (p)、ウィルコクソンの符号付き順位検定。"
                "クラスタがあればクラスタごと。",
                "Paired on the units scored in both; 95 % bootstrap intervals, sign-flip "
                "permutation tests (p), Wilcoxon's signed-rank tests, all by cluster where the "
                "system names clusters.",
            ),
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Undefined figures are `null`, with the reason."""
        return {
            "differences": [
                {
                    "metric": x.metric,
                    "first": x.first,
                    "second": x.second,
                    "difference": plain_number(x.difference.value),
                    "interval": [plain_number(x.difference.low), plain_number(x.difference.high)],
                    "p": plain_number(x.difference.p),
                    "p_holm": plain_number(x.holm),
                    "p_wilcoxon": plain_number(x.wilcoxon),
                    "n": x.difference.n,
                    "reason": x.difference.reason,
                }
                for x in self.lines
            ],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class _Run:
    name: str
    frozen: Frozen
    stored: StoredSummary


def compare(
    paths: Sequence[Path],
    *,
    seed: int = 0,
    against_first: bool = False,
    names: Sequence[str] = (),
) -> Comparison:
    """Compare each run with those after it, in the order given, or the first with each other.

    names: of the runs, in their order; their paths by default.

    Raises:
        InputError: fewer than two runs, one that is none or has no summary, or no metric
            with values to be paired.
    """
    if len(paths) < 2:
        raise InputError(
            say("実行が二つ以上必要です", "two runs or more are needed"),
            place="naisei runs compare",
        )
    shown = names or list(map(str, paths))
    runs = [_load(path, name) for path, name in zip(paths, shown, strict=True)]
    pairs = [
        (name, a, b, *_difference(name, a, b, seed))
        for a, b in (((runs[0], b) for b in runs[1:]) if against_first else combinations(runs, 2))
        for name in _metrics(a, b)
    ]
    if not pairs:
        raise InputError(
            say(
                "件ごとの値を持つ指標のうち、これらの実行に共通するものがありません",
                "these runs share no metric with a value for each unit",
            ),
            place=", ".join(map(str, paths)),
        )
    adjusted = holm([difference.p for *_, difference, _ in pairs])
    lines = [
        PairedMetric(m, a.name, b.name, d, p, ranks)
        for (m, a, b, d, ranks), p in zip(pairs, adjusted, strict=True)
    ]
    return Comparison(tuple(lines), tuple(_warnings(runs)))


def _load(path: Path, name: str) -> _Run:
    with RunDirectory.look(path) as directory:
        return _Run(name, directory.frozen, stored_summary(directory))


def _metrics(a: _Run, b: _Run) -> list[str]:
    names = [m.name for m in a.stored.summary.metrics]
    return [n for n in names if a.stored.per_unit(n) and b.stored.per_unit(n)]


def _difference(name: str, a: _Run, b: _Run, seed: int) -> tuple[Difference, float]:
    """And the p-value of the signed-rank test."""
    first, second = a.stored.per_unit(name), b.stored.per_unit(name)
    shared = [unit for unit in first if unit in second]
    of = a.stored.clusters()
    clusters = [of[u] for u in shared]
    x, y = [first[u] for u in shared], [second[u] for u in shared]
    difference = paired_difference(x, y, clusters=clusters, seed=seed)
    return difference, wilcoxon_signed_rank(x, y, clusters=clusters)


def _warnings(runs: Sequence[_Run]) -> list[str]:
    first, *others = runs
    out = []
    for run in others:
        if run.frozen.system != first.frozen.system:
            out.append(
                say(
                    f"{run.name} は別のシステムの実行です: {run.frozen.system}",
                    f"{run.name} is of another system: {run.frozen.system}",
                )
            )
        if run.frozen.data_hash != first.frozen.data_hash:
            out.append(
                say(
                    f"{run.name} のデータは {first.name} と違います。名前の同じ件だけを比べますが、"
                    "同じ件とは限りません",
                    f"{run.name} ran on other data than {first.name}: only units of the same name "
                    "are compared, and they may not be the same",
                )
            )
    stopped = [run for run in runs if run.stored.stopped]
    unfinished = (
        say(
            f"{run.name} は最後まで進んでいません: {run.stored.stopped}",
            f"{run.name} is not at its end: {run.stored.stopped}",
        )
        for run in stopped
    )
    return [*out, *unfinished]


def difference_table(
    title: str,
    lines: Sequence[tuple[str, str, Difference]],
    *,
    note: str,
    labels: tuple[str, str] = ("configuration", "metric"),
    p_values: Sequence[float] | None = None,
    test: str = "p",
) -> Table:
    """Paired differences of the rows of a study, p-values adjusted for all of them (Holm 1979).

    Args:
        lines: (row, metric, difference) each. labels: the columns of the first two.
        p_values: of another test, one a line; by default those of the differences.
        test: the column of the unadjusted p-values.
    """
    raw = [d.p for *_, d in lines] if p_values is None else p_values
    return Table(
        title,
        (*labels, "difference", "low", "high", test, "p (Holm)", "n"),
        tuple(
            (row, metric, d.value, d.low, d.high, p, adjusted, d.n)
            for (row, metric, d), p, adjusted in zip(lines, raw, holm(raw), strict=True)
        ),
        note=note,
    )
