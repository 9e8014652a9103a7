"""Text games as a system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.core import InputError
from naisei.lang import say
from naisei.system.declare import (
    Ablation,
    Experiment,
    LiveLines,
    RawOptions,
    Role,
    Row,
    System,
    Verb,
)
from naisei.system.registry import BUILT_IN
from naisei.textgame.ablation import ROWS, chosen, configured
from naisei.textgame.config import AblationConfig, GameConfig, PlayConfig

if TYPE_CHECKING:
    from naisei.core import Event
    from naisei.runs.task import Digest
    from naisei.terminal import Console
    from naisei.textgame.play import PlayTask
    from naisei.textgame.task import GameTask

_WITHOUT = (
    "モデルの要らないプレイヤーを使う: --agent planner",
    "choose a player without one: --agent planner",
)
_TRAINING = "naisei.textgame.trained.training.command"


def _calls_player(config: GameConfig | PlayConfig) -> bool:
    from naisei.textgame.player import player_kind

    return "player" in player_kind(config.agent).roles


def _reflects(config: GameConfig) -> bool:
    from naisei.textgame.player import player_kind
    from naisei.textgame.task import memory_of

    kind = player_kind(config.agent)
    if "reflector" not in kind.roles:
        return False
    return memory_of(kind, kind.settings.model_validate(config.agent_options))().reflects


def _settle_player(raw: RawOptions) -> dict[str, Any]:
    """Convert the player's options to its declared types."""
    from naisei.plugins import typed
    from naisei.textgame.player import player_kind

    values = dict(raw.values)
    if options := values.get("agent_options"):
        kind = player_kind(values.get("agent", "planner"))
        values["agent_options"] = typed(kind.settings, options)
    return values


def _settle(raw: RawOptions) -> dict[str, Any]:
    """Set `games` from `--games`, `--twc` or `--ftwp`. Raises `InputError` unless exactly one is
    given."""
    values = _settle_player(raw)
    sets = {"": values.get("games"), "twc:": values.pop("twc", 0), "ftwp:": values.pop("ftwp", 0)}
    named = [f"{prefix}{Path(path)}" for prefix, path in sets.items() if path]
    if len(named) != 1:
        raise InputError(
            say("ゲームが指定されていません", "no games are named")
            if not named
            else say("ゲームの指定が二つ以上あります", "several sets of games are named"),
            place="--games",
            remedy=say(
                "--games DIR、--twc DIR、--ftwp DIR のどれか一つを指定してください。"
                "ゲームは naisei textgame make cooking --out DIR で作れます",
                "give one of --games DIR, --twc DIR and --ftwp DIR; naisei textgame make "
                "cooking --out DIR makes games",
            ),
        )
    return {**values, "games": named[0]}


def _load(config: GameConfig) -> GameTask:
    from naisei.textgame.task import GameTask

    return GameTask(config)


def _load_play(config: PlayConfig) -> PlayTask:
    from naisei.textgame.play import PlayTask

    return PlayTask(config)


def _live(task: PlayTask, console: Console, earlier: Sequence[Event]) -> LiveLines:
    """No lines: the screen prints the game."""
    task.screen.console = console
    return lambda event: ()


def _digest(result: Any) -> Digest:
    from naisei.textgame.texts import digest

    return digest(result)


RUN: Experiment[GameConfig] = Experiment(
    about=("ゲームを遊ばせて成績を出す", "Let a player play games, and report its scores."),
    config=GameConfig,
    load=_load,
    settle=_settle,
    headline=("normalized_score",),
    digest=_digest,
    roles=(
        Role("player", needed=_calls_player, without=_WITHOUT),
        Role("reflector", needed=_reflects),
    ),
    concurrency=None,
    ablation=Ablation(
        rows={row: Row(partial(configured, row=row)) for row in ROWS},
        about=(
            "LLM プレイヤーのプロンプトの部分をひとつずつ外して比べる (論文の表 3.2、3.3)",
            "Compare the LLM player with parts of its prompt left out (thesis: Tables 3.2, 3.3).",
        ),
        config=AblationConfig,
        defaults={"agent": "llm"},
        chosen=chosen,
    ),
    columns=("normalized_score", "mean_steps", "won", "repairs", "unmatched"),
)

PLAY: Experiment[PlayConfig] = Experiment(
    verb="play",
    task="play",
    about=(
        "端末で遊ぶ。? でプレイヤーの考えを聞き、--watch で眺める",
        "Play in the terminal; ? asks a player what it would do, --watch lets it play.",
    ),
    config=PlayConfig,
    load=_load_play,
    settle=_settle_player,
    roles=(Role("player", needed=_calls_player, without=_WITHOUT),),
    concurrency=1,
    live=_live,
    again=True,
)

SYSTEM = System(
    name="textgame",
    about=BUILT_IN["textgame"],
    experiments=(RUN, PLAY),
    verbs=(
        Verb("make", ("ゲームを作る", "Make games."), "naisei.textgame.make:app"),
        Verb(
            "record",
            (
                "ゲームに付いた解答を再生し、学習用に記録する",
                "Replay and record walkthroughs for training.",
            ),
            f"{_TRAINING}:record",
        ),
        Verb(
            "train",
            (
                "解答から学ぶプレイヤーを学習させる",
                "Train the player `imitation` on walkthroughs.",
            ),
            f"{_TRAINING}:train",
        ),
    ),
    demo="naisei.textgame.demo:PART",
    page="naisei.web.pages.games:PAGE",
    replay="naisei.web.replays.textgame:REPLAY",
)
