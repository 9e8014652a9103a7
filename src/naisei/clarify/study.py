"""Several configurations of clarify side by side: rows of one table, paired comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isnan, nan

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.metrics import KS, NO_MODEL
from naisei.lang import say
from naisei.runs.compare import differences, side_by_side
from naisei.runs.task import Metric, Summary, Table
from naisei.system.studies import Study

_SUCCESS = (
    *(f"score@{k}" for k in KS),
    *(f"pass@{k}" for k in KS),
    *(f"dpass@{k}" for k in KS),
    "questions",
    "wrong_acts",
)
_TOKENS = (
    "tokens_reflection_success",
    "tokens_total_success",
    "tokens_reflection_all",
    "tokens_total_all",
)


def study_tables(study: Study) -> tuple[Table, ...]:
    """One table of success with intervals, one of tokens, and comparisons with the first row."""
    by_row = study.metrics
    tables = [_success(by_row, next(iter(study.summaries.values())).extra["oracle"])]
    if len(by_row) > 1:
        tables.append(_at_equal_success(by_row))
    if worst := _worst(study.configs, by_row):
        tables.append(worst)
    if any(m[_TOKENS[-1]].reason != NO_MODEL for m in by_row.values()):
        tables.append(_tokens(by_row))
    return (*tables, *_comparisons(study.summaries, study.seed))


def _success(by_row: Mapping[str, Mapping[str, Metric]], oracle: Mapping[str, float]) -> Table:
    names = [n for n in _SUCCESS if any(m[n].value == m[n].value for m in by_row.values())]
    counts = {label: metrics["questions"].n for label, metrics in by_row.items()}
    rows = {**by_row}
    tried = max((int(k.split("@")[1]) for k in oracle), default=0)
    if tried and not isnan(oracle[f"pass@{tried}"]):
        known = {**oracle, "questions": 0.0, "wrong_acts": oracle[f"wrong_acts@{tried}"]}
        drawn = {name: Metric(name, known.get(name.removeprefix("d"), nan)) for name in names}
        rows["plausible-set oracle"] = drawn
        counts["plausible-set oracle"] = next(iter(counts.values()))
    return side_by_side(
        "Success",
        rows,
        names,
        counts=counts,
        note=say(
            "下限と上限: 場面をまとまりとする 95 % 区間",
            "low and high: 95 % interval, scenes as clusters",
        ),
    )


_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def _at_equal_success(by_row: Mapping[str, Mapping[str, Metric]]) -> Table:
    """The fewest questions within which a share of the instances is solved; NaN: never."""
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
    """Robustness: the lowest score among users who talk differently."""
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


def _tokens(by_row: Mapping[str, Mapping[str, Metric]]) -> Table:
    """Tokens per instance, with Δ = TUR − Reflexion where both are there (Table 3).

    What is undefined is NaN, and a column says why.
    """
    rows: list[tuple[str | float | int, ...]] = []
    reasons = []
    for label, metrics in by_row.items():
        rows.append((label, *(metrics[name].value for name in _TOKENS)))
        reasons.append(_reasons(metrics))
    if {"full", "reflexion"} <= set(by_row):
        full, other = by_row["full"], by_row["reflexion"]
        rows.append(("Δ TUR − Reflexion", *(full[n].value - other[n].value for n in _TOKENS)))
        reasons.append(_reasons(full, other))
    columns: tuple[str, ...] = ("configuration", *_TOKENS)
    if any(reasons):
        columns = (*columns, "reason")
        rows = [(*row, why) for row, why in zip(rows, reasons, strict=True)]
    return Table(
        "Tokens per instance",
        columns,
        tuple(rows),
        note=say(
            "エージェントと内省。success は、論文の表 3 と同じく成功した件についての値",
            "agent and reflector; success: over successful instances, as in the paper's Table 3",
        ),
    )


def _reasons(*rows: Mapping[str, Metric]) -> str:
    """Why some of the token metrics are undefined; empty where all are defined."""
    found = (metrics[name].reason for metrics in rows for name in _TOKENS)
    return "; ".join(dict.fromkeys(reason for reason in found if reason))


def _comparisons(summaries: Mapping[str, Summary], seed: int) -> tuple[Table, ...]:
    """Each row minus the first, paired by instance; p-values adjusted by Holm's method."""
    reference = next(iter(summaries.values())).metrics
    tried = [m.name for m in reference if m.name.startswith("pass@") and m.n]
    k = tried[-1].split("@")[1] if tried else "1"
    return differences(
        summaries,
        (f"score@{k}", f"pass@{k}", f"dpass@{k}", "questions", "wrong_acts", *_TOKENS[2:]),
        seed=seed,
        note=say(
            "両方で採点された件ごとの差 (対応あり)。場面をまとまりとする符号反転の並べ替え検定",
            "paired by instance over those scored in both; sign-flip permutation test, "
            "scenes as clusters",
        ),
    )
