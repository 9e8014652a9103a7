"""The ablations of the language-model player: its rows as configurations, and their tables.

Source: the text-game thesis, §§3.4.2, 3.5.3, 5.5.3, 6.5.2 (Tables 3.2, 3.3, 5.5 and 6.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.task import Metric, Summary, Table
from naisei.textgame.config import AblationConfig

if TYPE_CHECKING:
    from naisei.system.studies import Study

_OTHER_MODEL = "other-model"

_DIALOGUE: dict[str, JsonValue] = {"prompt": "dialogue", "history_chars": 0}
_NAVIGATING: dict[str, JsonValue] = {**_DIALOGUE, "navigator": True}

#: Row → the player's settings that it makes.
ROWS: Mapping[str, dict[str, JsonValue]] = {
    "full": {},
    _OTHER_MODEL: {},
    "no-cot": {"thinking": False},
    "no-one-shot": {"example": "none"},
    "no-fa": {"feedback": "none"},
    "easy-one-shot": {"example": "easy"},
    "dialogue": _DIALOGUE,
    "navigator": _NAVIGATING,
    "other-dialogue": _DIALOGUE,
    "other-navigator": _NAVIGATING,
}

#: Title → the rows it holds, in the thesis's order.
_TABLES: Mapping[str, tuple[str, ...]] = {
    "Parts of the prompt (Table 3.2)": ("full", _OTHER_MODEL, "no-cot", "no-one-shot", "no-fa"),
    "Choice of the example (Table 3.3)": ("full", "no-one-shot", "easy-one-shot"),
    "Zero-shot, and with the navigator (Tables 5.5 and 6.2)": (
        *("dialogue", "navigator", "other-dialogue", "other-navigator"),
    ),
}
#: Rows of the other model.
_OTHERS = (_OTHER_MODEL, "other-dialogue", "other-navigator")
#: By default: the parts of the prompt.
_DEFAULT = tuple(row for row in ROWS if row not in _TABLES[list(_TABLES)[-1]])


def chosen(config: AblationConfig, asked: Sequence[str]) -> tuple[str, ...]:
    """The rows that are run, in the tables' order; the parts of the prompt by default.

    Parts of the prompt are compared with `full`, which then comes first. Without another model
    its row is left out of the default.

    Raises:
        InputError: a row of the other model, and none is given.
    """
    others = [row for row in asked if row in _OTHERS]
    if others and config.other_model is None:
        raise InputError(
            say(
                f"行 {others[0]} のモデルが指定されていません",
                f"the row {others[0]} has no model",
            ),
            place="--other-model",
            remedy=say(
                "--other-model PROVIDER:NAME を付けてください",
                "give --other-model PROVIDER:NAME",
            ),
        )
    wanted = {*asked} or {row for row in _DEFAULT if row != _OTHER_MODEL or config.other_model}
    if wanted & {*_DEFAULT}:
        wanted.add("full")
    return tuple(row for row in ROWS if row in wanted)


def configured(config: AblationConfig, row: str) -> AblationConfig:
    """The configuration of a row, all else as in `config`.

    Raises:
        InputError: a setting in `config` that makes the row the same as another.
    """
    if clash := [key for key in ROWS[row] if key in config.agent_options]:
        raise InputError(
            say(
                f"'{clash[0]}' は行 {row} が決める設定です",
                f"the row {row} sets '{clash[0]}' itself",
            ),
            place=f"--agent-option {clash[0]}",
            remedy=say(
                "この設定を外すか、--rows で別の行を選んでください",
                "leave the setting out, or choose other --rows",
            ),
        )
    update: dict[str, object] = {"agent_options": {**config.agent_options, **ROWS[row]}}
    if row in _OTHERS and config.other_model:
        update["models"] = dict.fromkeys(config.models, config.other_model)
    return config.model_copy(update=update)


def study_tables(study: Study) -> tuple[Table, ...]:
    """The tables of rows that were run; see `tables_of`."""
    return tables_of(study.summaries, seed=study.seed)


def tables_of(summaries: Mapping[str, Summary], *, seed: int = 0) -> tuple[Table, ...]:
    """The thesis's tables, as far as their rows are there, and the comparisons with the first."""
    out = []
    for title, rows in _TABLES.items():
        there = {row: summaries[row] for row in rows if row in summaries}
        if len(there) > 1:
            out.append(_by_level(title, there))
    if not out:
        out.append(_by_level("Games", summaries))
    return (*out, _replies(summaries), *_comparisons(summaries, seed))


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
            "下限と上限: ゲームをまとまりとする 95 % 区間",
            "low and high: 95 % interval, games as clusters",
        ),
    )


def _replies(summaries: Mapping[str, Summary]) -> Table:
    """How well each row's replies could be read, a game; NaN where no command was given."""
    from naisei.runs.compare import side_by_side

    return side_by_side(
        "Replies that named no command of the list, a game",
        {row: {m.name: m for m in s.metrics} for row, s in summaries.items()},
        ("repairs", "unmatched"),
        bounded=(),
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


def _comparisons(summaries: Mapping[str, Summary], seed: int) -> tuple[Table, ...]:
    """Each row minus the first, paired by game; p-values adjusted by Holm's method."""
    from naisei.runs.compare import differences

    return differences(
        summaries,
        tuple(_SHOWN.values()),
        seed=seed,
        note=say(
            "両方で採点されたゲームごとの差 (対応あり)。符号反転の並べ替え検定",
            "paired by game over those scored in both; sign-flip permutation test",
        ),
    )
