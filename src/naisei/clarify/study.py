"""Additional tables of clarify's studies."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, nan

from naisei.clarify.config import ClarifyConfig
from naisei.lang import say
from naisei.runs.task import Metric, Table
from naisei.system.studies import Study


def more_tables(study: Study) -> tuple[Table, ...]:
    """Questions at equal success, and each configuration's worst kind of user."""
    tables = [_at_equal_success(study.metrics)] if len(study.results) > 1 else []
    worst = _worst(study.configs, study.metrics)
    return (*tables, worst) if worst else tuple(tables)


_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def _at_equal_success(by_row: Mapping[str, Mapping[str, Metric]]) -> Table:
    """Questions needed to solve a share of the instances; NaN: never reached."""
    rows: list[tuple[str | float | int, ...]] = []
    for label, metrics in by_row.items():
        passed = [m for n, m in metrics.items() if n.startswith("pass@") and m.n]
        asked = metrics["questions"].per_unit
        won = passed[-1].per_unit if passed else ()
        spent = sorted(q for q, w in zip(asked, won, strict=bool(won)) if w)
        needed = [
            spent[ceil(s * len(won)) - 1] if ceil(s * len(won)) <= len(spent) else nan
            for s in _LEVELS
        ]
        rows.append((label, *(needed if won else [nan] * len(_LEVELS))))
    return Table(
        "Questions at equal success",
        ("configuration", *(f"{s:.0%}" for s in _LEVELS)),
        tuple(rows),
        note=say(
            "これだけの割合を解くのに要る質問の数 (試行全体の合計)",
            "the questions, in all trials, within which so large a share is solved",
        ),
    )


def _worst(
    configs: Mapping[str, ClarifyConfig], by_row: Mapping[str, Mapping[str, Metric]]
) -> Table | None:
    """Robustness: the lowest score over manners of talking."""
    alike: dict[str, list[str]] = {}
    for label, config in configs.items():
        apart = config.model_copy(update={"manner": "cooperative"})
        alike.setdefault(apart.model_dump_json(), []).append(label)
    rows: list[tuple[str | float | int, ...]] = []
    for labels in alike.values():
        if len(labels) < 2:
            continue
        k = configs[labels[0]].rules.trials
        scores = {label: by_row[label][f"score@{k}"] for label in labels}
        lowest = min(scores, key=lambda label: scores[label].value)
        low = scores[lowest]
        rows.append((lowest, configs[lowest].manner, low.value, low.low, low.high))
    if not rows:
        return None
    columns = ("configuration", "manner", "score", "95 % low", "95 % high")
    return Table("Robustness: the user it fares worst with", columns, tuple(rows))
