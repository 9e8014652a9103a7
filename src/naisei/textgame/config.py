"""What a run of games is: everything that changes its results, the flags for it, and the rows of
the ablation.

Source of the rows: the text-game thesis, §§3.4.2, 3.5.3, 5.5.3, 6.5.2 (Tables 3.2, 3.3, 5.5 and
6.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.task import Metric, Summary, Table
from naisei.system.config import Config, flag

if TYPE_CHECKING:
    from naisei.system.execute import Study

__all__ = [
    "ROWS",
    "AblationConfig",
    "GameConfig",
    "PlayConfig",
    "chosen",
    "configured",
    "study_tables",
    "tables_of",
]


_SETS = ("公開データ", "Public sets")


class _Played(Config):
    """By whom games are played, and for how long.

    max_steps: commands a game lasts; by default 20 for games of tidying up (thesis §3.1) and 100
    for cooking (§5.3.2). interpreter_timeout: seconds; changes no result, and is not frozen.
    """

    agent: str = flag("planner", "プレイヤー", "The player.")
    agent_options: dict[str, JsonValue] = flag(
        {},
        "プレイヤーの設定 (複数可)。知らない名前を渡すと一覧が出る",
        "Setting of the player, repeatable; an unknown one gets the list.",
        name="--agent-option",
    )
    max_steps: int | None = flag(
        None,
        "1 ゲームの手数の上限 (既定: 片付け 20、料理 100)",
        "Commands a game lasts; by default 20 for tidying up, 100 for cooking.",
        ge=1,
    )
    interpreter_timeout: float = flag(
        60.0,
        "ゲームのインタープリターの応答を待つ秒数。過ぎたら起動し直す",
        "Seconds that a game's interpreter may take for an answer; then it is started again.",
        panel="run",
        gt=0,
        exclude=True,
    )


class GameConfig(_Played):
    """Games of one set, played by one kind of player.

    games: folder or file of games, or `twc:DIR` and `ftwp:DIR` for the public sets' layouts; on
    the command line `--twc` and `--ftwp` stand for these. limit: at most so many games, drawn by
    the seed. trials: plays of each game that know nothing of each other. tries: plays in sequence
    within each trial, until the game is won; a player that reflects has a memo between them.
    """

    games: str = flag(
        "",
        "ゲーム (.z8、.json) かそのフォルダー",
        "A game (.z8, .json) or a folder of them.",
        metavar="DIR|FILE",
    )
    trials: int = flag(
        1, "1 件あたりの試行数 (Pass@k の k)", "Trials per instance: the k of Pass@k.", ge=1
    )
    tries: int = flag(
        1,
        "同じゲームを続けて何回試すか (達成したら終わり)。memory を設定したプレイヤーは"
        "失敗のたびにメモを書く。--trials は互いに無関係な試行",
        "Tries at each game in sequence, until it is won; a player with a memory writes a "
        "memo after each failed one. The plays of --trials know nothing of each other.",
        ge=1,
    )
    filter: Literal["none", "thesis", "strict"] = flag(
        "none",
        "候補の絞り込み (thesis は論文 §6.3.3)",
        "Which candidates the player is shown; thesis is its §6.3.3.",
    )
    twc: str | None = flag(
        None,
        "IBM commonsense-rl の games/twc (easy、medium、hard の親)",
        "IBM's commonsense-rl games/twc: the folder with easy, medium and hard.",
        panel=_SETS,
        metavar="DIR",
        exclude=True,
    )
    ftwp: str | None = flag(
        None,
        "First TextWorld Problems のフォルダーか zip (train、valid、test)",
        "First TextWorld Problems: its folder or zip, with train, valid and test.",
        panel=_SETS,
        metavar="DIR|ZIP",
        exclude=True,
    )
    split: str = flag(
        "",
        "分割 (既定: test)",
        "Split; test by default.",
        panel=_SETS,
        metavar="train|valid|test",
    )
    level: str = flag(
        "",
        "TWC の難易度 (既定: 全部)",
        "Level of TWC; all by default.",
        panel=_SETS,
        metavar="easy|medium|hard",
    )
    limit: int | None = flag(
        None,
        "使う件数 (乱数シードで選ぶ)",
        "Use so many instances, drawn by the seed.",
        panel="run",
        ge=1,
    )


class AblationConfig(GameConfig):
    """The full player of an ablation, and the model that some rows have in place of its own."""

    other_model: str | None = flag(
        None,
        "行 other-… のモデル (論文では表 3.2 の「-GPT4」、表 6.2 の GPT-4.1)",
        "Model of the rows other-…: “-GPT4” of the thesis's Table 3.2, GPT-4.1 of 6.2.",
        panel="models",
        metavar="PROVIDER:NAME",
        exclude=True,
    )


class PlayConfig(_Played):
    """A person plays one game at the terminal with a player for advice, or watches the player.

    delay: seconds between commands that are watched; changes no result, and is not frozen.
    """

    task: Literal["play"] = "play"
    game: str = flag(
        ..., "ゲーム (.z8 か .json)", "A game (.z8 or .json).", metavar="GAME", argument=True
    )
    watch: bool = flag(False, "プレイヤーに遊ばせて眺める", "Let the player play, and look on.")
    delay: float | None = flag(
        None,
        "--watch の一手ごとの間 (秒)",
        "Pause between commands with --watch.",
        metavar="SECONDS",
        ge=0,
        exclude=True,
    )


# The ablations of the language-model player: its rows as configurations, and the tables of them.
#
# Source: the text-game thesis, §§3.4.2, 3.5.3, 5.5.3, 6.5.2 (Tables 3.2, 3.3, 5.5 and 6.2).

OTHER_MODEL = "other-model"

_DIALOGUE: dict[str, JsonValue] = {"prompt": "dialogue", "history_chars": 0}
_NAVIGATING: dict[str, JsonValue] = {**_DIALOGUE, "navigator": True}

#: Row → the player's settings that it makes.
ROWS: Mapping[str, dict[str, JsonValue]] = {
    "full": {},
    OTHER_MODEL: {},
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
TABLES: Mapping[str, tuple[str, ...]] = {
    "Parts of the prompt (Table 3.2)": ("full", OTHER_MODEL, "no-cot", "no-one-shot", "no-fa"),
    "Choice of the example (Table 3.3)": ("full", "no-one-shot", "easy-one-shot"),
    "Zero-shot, and with the navigator (Tables 5.5 and 6.2)": (
        *("dialogue", "navigator", "other-dialogue", "other-navigator"),
    ),
}
#: Rows of the other model.
_OTHERS = (OTHER_MODEL, "other-dialogue", "other-navigator")
#: By default: the parts of the prompt.
_DEFAULT = tuple(row for row in ROWS if row not in TABLES[list(TABLES)[-1]])


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
    wanted = {*asked} or {row for row in _DEFAULT if row != OTHER_MODEL or config.other_model}
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
    seed = next(iter(study.configs.values())).seed
    return tables_of({row: r.summary for row, r in study.results.items()}, seed=seed)


def tables_of(summaries: Mapping[str, Summary], *, seed: int = 0) -> tuple[Table, ...]:
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
    from naisei.runs.compare import difference_table
    from naisei.runs.significance import paired_difference

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
