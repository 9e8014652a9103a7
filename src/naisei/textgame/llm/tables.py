"""Runs side by side: score and steps by level, and each row's difference from the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.lang import say
from naisei.runs.compare import difference_table
from naisei.runs.significance import paired_difference
from naisei.runs.task import Metric, Summary, Table
from naisei.textgame.llm.ablation import TABLES

__all__ = ["study_tables"]


def study_tables(summaries: Mapping[str, Summary], *, seed: int = 0) -> tuple[Table, ...]:
    """The thesis's tables, as far as their rows are there, and the comparisons with the first."""
    out = []
    for title, rows in TABLES.items():
        there = {row: summaries[row] for row in rows if row in summaries}
        if len(there) > 1:
            out.append(_by_level(title, there))
    if not out:
        out.append(_by_level("Games", summaries))
    out.append(_replies(summaries))
    if len(summaries) > 1:
        out.append(_comparisons(summaries, seed))
    return tuple(out)


def _by_level(title: str, summaries: Mapping[str, Summary]) -> Table:
    levels = sorted(
        {kind for s in summaries.values() for kind in s.extra["kinds"]}, key=_easy_first
    )
    columns = ["configuration", *(f"{level} {what}" for level in levels for what in _SHOWN)]
    rows = []
    for row, summary in summaries.items():
        line: list[str | float | int] = [row]
        for level in levels:
            line += [_mean_of(summary, metric, level) for metric in _SHOWN.values()]
        score = _metric(summary, "normalized_score")
        line += [score.value, score.low, score.high, _metric(summary, "mean_steps").value]
        rows.append((*line, score.n))
    return Table(
        title,
        (*columns, "score", "low", "high", "steps", "n"),
        tuple(rows),
        note=say(
            "下限と上限: ゲームについての 95 % ブートストラップ区間",
            "low and high: 95 % bootstrap interval over games",
        ),
    )


def _replies(summaries: Mapping[str, Summary]) -> Table:
    """How well each row's replies could be read, a game."""
    return Table(
        "Replies that named no command of the list, a game",
        ("configuration", "repairs", "unmatched"),
        tuple((r, _value(s, "repairs"), _value(s, "unmatched")) for r, s in summaries.items()),
        note=say(
            "聞き直し: もう一度尋ねた回数。読めず: それでも読めず、害のないコマンドにした回数",
            "repairs: asked for once more; unmatched: in vain, a harmless command was taken",
        ),
    )


#: Column → metric.
_SHOWN = {"score": "normalized_score", "steps": "mean_steps"}


def _easy_first(level: str) -> tuple[int, str]:
    order = ("easy", "medium", "hard")
    return (order.index(level) if level in order else len(order), level)


def _metric(summary: Summary, name: str) -> Metric:
    return next(m for m in summary.metrics if m.name == name)


def _value(summary: Summary, name: str) -> float:
    """NaN where no command was given, so that nothing was counted."""
    return next((m.value for m in summary.metrics if m.name == name), float("nan"))


def _mean_of(summary: Summary, name: str, level: str) -> float:
    values = [
        value
        for kind, value in zip(summary.extra["kinds"], _per_unit(summary, name), strict=True)
        if kind == level
    ]
    return sum(values) / len(values) if values else float("nan")


def _per_unit(summary: Summary, name: str) -> Sequence[float]:
    """One value a scored game, NaN where the metric is undefined."""
    return _metric(summary, name).per_unit or [float("nan")] * len(summary.extra["units"])


def _per_game(summary: Summary, name: str) -> dict[str, float]:
    """Game → the mean over its trials."""
    values: dict[str, list[float]] = {}
    for game, value in zip(summary.extra["units"], _per_unit(summary, name), strict=True):
        values.setdefault(game, []).append(value)
    return {game: sum(each) / len(each) for game, each in values.items()}


def _comparisons(summaries: Mapping[str, Summary], seed: int) -> Table:
    """Each row minus the first, paired by game; p-values adjusted by Holm's method."""
    first, *others = summaries
    found = []
    for row in others:
        for name in _SHOWN.values():
            a, b = _per_game(summaries[first], name), _per_game(summaries[row], name)
            both = [game for game in a if game in b]
            of = paired_difference([a[g] for g in both], [b[g] for g in both], seed=seed)
            found.append((row, name, of))
    return difference_table(
        f"Difference from {first}",
        found,
        note=say(
            "両方で採点されたゲームごとの差 (対応あり)。符号反転の並べ替え検定",
            "paired by game over those scored in both; sign-flip permutation test",
        ),
    )
