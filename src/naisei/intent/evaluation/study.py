"""Several configurations side by side: what asking, rewriting and each way of searching add."""

from __future__ import annotations

from collections.abc import Mapping

from naisei.lang import say
from naisei.runs.compare import difference_table
from naisei.runs.significance import Difference, paired_difference
from naisei.runs.task import Metric, Summary, Table

__all__ = ["study_tables"]

_SHOWN = (
    "routing_agreement",
    "questions",
    "clear/recall@5_before",
    "vague/recall@5_before",
    "vague/recall@5_after",
    "vague/mrr@10_after",
    "consultation/recall@5_after",
    "refusals_right",
    "refusals_wrong",
    "cited_gold",
)
_COMPARED = ("clear/recall@5_after", "vague/recall@5_after", "vague/mrr@10_after")


def study_tables(summaries: Mapping[str, Summary], *, seed: int = 0) -> tuple[Table, ...]:
    """One row a configuration; then each against the first, paired by item."""
    by_row = {label: {m.name: m for m in s.metrics} for label, s in summaries.items()}
    columns = ["configuration"]
    for name in _SHOWN:
        columns += [name, f"{name} low", f"{name} high"]
    rows = []
    for label, metrics in by_row.items():
        cells: list[str | float | int] = [label]
        for name in _SHOWN:
            m = metrics[name]
            cells += [m.value, m.low, m.high]
        rows.append(tuple(cells))
    tables = [
        Table(
            "Configurations",
            tuple(columns),
            tuple(rows),
            note=say(
                "下限と上限: 件についての 95 % ブートストラップ区間",
                "low and high: 95 % bootstrap interval over items",
            ),
        )
    ]
    if len(by_row) > 1:
        tables.append(_comparisons(by_row, seed))
    return tuple(tables)


def _comparisons(by_row: Mapping[str, Mapping[str, Metric]], seed: int) -> Table:
    first, *others = by_row
    lines: list[tuple[str, str, Difference]] = []
    for label in others:
        for name in _COMPARED:
            a, b = by_row[first][name].per_unit, by_row[label][name].per_unit
            if len(a) == len(b):
                found = paired_difference(a, b, seed=seed)
            else:
                found = Difference(float("nan"), reason="other items were scored")
            lines.append((label, name, found))
    return difference_table(
        f"Difference from {first}",
        lines,
        note=say(
            "件ごとの差 (対応あり)。符号反転の並べ替え検定",
            "paired by item; sign-flip permutation test",
        ),
    )
