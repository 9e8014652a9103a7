"""Configurations of game runs: all settings that change results, with their flags."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from naisei.system.config import Config, flag

_SETS = ("公開データ", "Public sets")


class _Played(Config):
    """The player and its limits.

    max_steps: commands per game; default 20 for tidying (thesis §3.1), 100 for cooking (§5.3.2).
    interpreter_timeout: seconds; not frozen, since it changes no result.
    """

    agent: str = flag("planner", "プレイヤー", "The player.")
    agent_options: dict[str, JsonValue] = flag(
        {},
        "プレイヤーの設定 (複数可)。知らない名前を渡すと一覧が出る",
        "Player setting, repeatable; an unknown name prints the list.",
        name="--agent-option",
    )
    max_steps: int | None = flag(
        None,
        "1 ゲームの手数の上限 (既定: 片付け 20、料理 100)",
        "Most commands per game (default: tidying 20, cooking 100).",
        ge=1,
    )
    interpreter_timeout: float = flag(
        60.0,
        "ゲームのインタープリターの応答を待つ秒数。過ぎたら起動し直す",
        "Seconds to wait for the game's interpreter before restarting it.",
        panel="run",
        gt=0,
        exclude=True,
    )


class GameConfig(_Played):
    """Games of one set, played by one kind of player.

    games: folder or file of games, or `twc:DIR` and `ftwp:DIR` for the public layouts (`--twc`,
    `--ftwp` on the command line). limit: number of games, a fixed choice. trials: independent plays
    of each game. tries: consecutive plays within a trial until the game is won; a reflecting player
    keeps a memo between them.
    """

    games: str = flag(
        "",
        "ゲーム (.z8、.json) かそのフォルダー",
        "A game (.z8, .json) or a folder of them.",
        metavar="DIR|FILE",
    )
    trials: int = flag(
        1,
        "1 件あたりの試行数 (Pass@k の k)",
        "Trials per instance: the k of Pass@k.",
        ge=1,
        le=1000,
    )
    tries: int = flag(
        1,
        "同じゲームを続けて何回試すか (達成したら終わり)。memory を設定したプレイヤーは"
        "失敗のたびにメモを書く。--trials は互いに無関係な試行",
        "Consecutive tries per game until it is won; a player with a memory writes a "
        "memo after each failure. Plays of --trials are independent.",
        ge=1,
        le=1000,
    )
    filter: Literal["none", "thesis", "strict"] = flag(
        "none",
        "候補の絞り込み (thesis は論文 §6.3.3)",
        "Filter of the candidate commands; thesis: as in its §6.3.3.",
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
        "使う件数 (選び方はいつも同じ)",
        "Number of instances to use, always the same ones.",
        panel="run",
        ge=1,
    )


class AblationConfig(GameConfig):
    """Configuration of an ablation; some rows use another model."""

    other_model: str | None = flag(
        None,
        "行 other-… のモデル (論文では表 3.2 の「-GPT4」、表 6.2 の GPT-4.1)",
        "Model of the rows other-…: “-GPT4” of the thesis's Table 3.2, GPT-4.1 of 6.2.",
        panel="models",
        metavar="PROVIDER:NAME",
        exclude=True,
    )


class PlayConfig(_Played):
    """One game at the terminal, played by a person (a player advises) or by a player (`watch`).

    delay: seconds between watched commands; not frozen, since it changes no result.
    """

    task: Literal["play"] = "play"
    game: str = flag(
        ..., "ゲーム (.z8 か .json)", "A game (.z8 or .json).", metavar="GAME", argument=True
    )
    watch: bool = flag(False, "プレイヤーに遊ばせて眺める", "Let the player play, and watch.")
    delay: float | None = flag(
        None,
        "--watch の一手ごとの間 (秒)",
        "Pause between commands with --watch.",
        metavar="SECONDS",
        ge=0,
        exclude=True,
    )
