"""Comparison of runs, in pairs or as the rows of a study."""

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
from naisei.runs.task import Summary, Table


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric of two runs. holm: p-value adjusted for all rows. wilcoxon: unadjusted p-value
    of the signed-rank test."""

    metric: str
    first: str
    second: str
    difference: Difference
    holm: float
    wilcoxon: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows for each metric and each pair of runs, the settings in which the runs differ, and
    important warnings."""

    lines: tuple[PairedMetric, ...]
    settings: tuple[str, ...]
    warnings: tuple[str, ...]

    def tables(self, first: Sequence[str]) -> list[Table]:
        """Return one table per pair of runs, for the terminal. first: prefixes of the metrics that
        come first, in order."""
        order = [*first, ""]

        def rank(line: PairedMetric) -> int:
            return next(n for n, start in enumerate(order) if line.metric.startswith(start))

        pairs: dict[str, list[PairedMetric]] = {}
        for line in sorted(self.lines, key=rank):
            pairs.setdefault(f"{line.second} − {line.first}", []).append(line)
        columns = ("metric", "difference", "low", "high", "p", "p (Holm)", "n")
        note = say(
            "両方で採点された件ごとの差 (対応あり)。符号反転の並べ替え検定、クラスタごと",
            "paired on the units scored in both; sign-flip permutation tests by cluster",
        )
        return [
            Table(
                title,
                columns,
                tuple(
                    (x.metric, d.value, d.low, d.high, d.p, x.holm, d.n)
                    for x in lines
                    for d in [x.difference]
                ),
                note if title == list(pairs)[-1] else "",
            )
            for title, lines in pairs.items()
        ]

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
                "両方で採点された件ごとの差 (対応あり)。95 % 区間、"
                "符号反転の並べ替え検定 (p)、ウィルコクソンの符号付き順位検定。"
                "クラスタがあればクラスタごと。",
                "Paired on the units scored in both; 95 % intervals, sign-flip permutation tests "
                "(p), Wilcoxon's signed-rank tests, all by cluster where the system names "
                "clusters.",
            ),
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Return JSON. Undefined values are `null`, with the reason."""
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
            "settings": list(self.settings),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A run with its summary. name: its label in the comparison."""

    name: str
    frozen: Frozen
    stored: StoredSummary


def compare(
    paths: Sequence[Path],
    *,
    seed: int = 0,
    against_first: bool = False,
    names: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Comparison:
    """Compare each run with those after it, in the given order, or the first with each other.

    names: labels of the runs, in order; their paths by default. columns: the metrics, as an
    experiment declares them for the tables of its studies; all by default.

    Raises:
        InputError: fewer than two runs, one that is not a run or has no summary, metrics with
            different definitions, or no metric with values that can be paired.
    """
    if len(paths) < 2:
        raise InputError(
            say("実行が二つ以上必要です", "two runs or more are needed"),
            place="naisei runs compare",
        )
    shown = names or list(map(str, paths))
    runs = [load(path, name) for path, name in zip(paths, shown, strict=True)]
    same_definitions(runs)
    pairs = [
        (name, a, b, *_difference(name, a.stored.summary, b.stored.summary, seed))
        for a, b in (((runs[0], b) for b in runs[1:]) if against_first else combinations(runs, 2))
        for name in in_columns(_metrics(a.stored.summary, b.stored.summary), columns)
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
    unfinished = (
        say(
            f"{run.name} は最後まで進んでいません: {run.stored.stopped}",
            f"{run.name} is not at its end: {run.stored.stopped}",
        )
        for run in runs
        if run.stored.stopped
    )
    return Comparison(tuple(lines), tuple(_settings(runs)), tuple(unfinished))


def load(path: Path, name: str) -> LoadedRun:
    """Load a run. Raises `InputError` if it is not a run or has no summary."""
    with RunDirectory.look(path) as directory:
        return LoadedRun(name, directory.frozen, stored_summary(directory))


def in_columns(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the metrics that belong to declared columns, in their order. A column that ends in @
    matches every k. Returns all metrics if there are no columns."""
    if not columns:
        return [*names]
    return [n for c in columns for n in names if n == c or (c[-1] == "@" and n.startswith(c))]


def _metrics(a: Summary, b: Summary) -> list[str]:
    return [m.name for m in a.metrics if a.per_unit(m.name) and b.per_unit(m.name)]


def _difference(name: str, a: Summary, b: Summary, seed: int) -> tuple[Difference, float]:
    """Return the paired difference of a metric on shared units and the signed-rank p-value."""
    first, second, of = a.per_unit(name), b.per_unit(name), a.clusters()
    shared = [unit for unit in first if unit in second]
    clusters = [of[u] for u in shared]
    x, y = [first[u] for u in shared], [second[u] for u in shared]
    metric = next(m for m in a.metrics if m.name == name)
    width = metric.bounds[1] - metric.bounds[0]
    difference = paired_difference(
        x, y, clusters=clusters, share=metric.share, width=width, seed=seed
    )
    return difference, wilcoxon_signed_rank(x, y, clusters=clusters)


def same_definitions(runs: Sequence[LoadedRun], names: Sequence[str] | None = None) -> None:
    """Check that metrics with the same name have the same definition. names: all by default.

    Raises:
        InputError: the systems, the data or the definition of a metric differ.
    """
    first, *others = runs
    for run in others:
        apart: dict[str, list[str]] = {}
        shared = _metrics(first.stored.summary, run.stored.summary)
        for name in (n for n in shared if names is None or n in names):
            a, b = _definition(first, name), _definition(run, name)
            for key in dict.fromkeys((*a, *b)):
                if a.get(key) != b.get(key):
                    apart.setdefault(f"{key} {a.get(key)} / {b.get(key)}", []).append(name)
        if apart:
            told = "; ".join(f"{key} ({', '.join(names)})" for key, names in apart.items())
            raise InputError(
                say(
                    f"同じ名前の指標でも意味が違うので、比べられません: {told}",
                    f"metrics of one name mean different things in these runs: {told}",
                ),
                place=f"{first.name}, {run.name}",
                remedy=say(
                    "これらの設定をそろえて実行し直してください",
                    "run both with these settings alike",
                ),
            )


def _definition(run: LoadedRun, name: str) -> dict[str, JsonValue]:
    metric = next(m for m in run.stored.summary.metrics if m.name == name)
    data = run.frozen.data_hash[:12]
    return {"system": run.frozen.system, "data": data, **metric.definition}


def _settings(runs: Sequence[LoadedRun]) -> list[str]:
    """Return the configuration differences between each run and the first."""
    first, *others = runs
    out = []
    for run in others:
        lines = first.frozen.differences(run.frozen)
        if first.frozen.naisei != run.frozen.naisei:
            lines.append(f"naisei: {first.frozen.naisei} → {run.frozen.naisei}")
        out += [f"{run.name}: {line}" if len(others) > 1 else line for line in lines]
    return out
