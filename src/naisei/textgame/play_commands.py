"""What `naisei textgame play` does, once the flags are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.runs.options import pairs, typed
from naisei.terminal import Console
from naisei.textgame.engine import needs_textworld
from naisei.textgame.games import find_games
from naisei.textgame.play import Sitting, play
from naisei.textgame.player import PlayerContext, player_kind
from naisei.textgame.stage import Stage
from naisei.textgame.texts import ending

__all__ = ["play_game_file"]


def play_game_file(
    path: Path,
    *,
    agent: str,
    given: Sequence[str],
    max_steps: int | None,
    watch: bool,
    delay: float,
    model: str | None,
    seed: int,
    settings: ModelSettings,
    console: Console,
) -> int:
    """Play one game at the terminal; returns the exit code.

    Raises:
        InputError: no such game, several of them, no engine, or a player that needs a model.
    """
    needs_textworld()
    games = find_games(str(path))
    if len(games) > 1:
        raise InputError(
            say(f"ここには {len(games)} ゲームあります", f"there are {len(games)} games here"),
            place=str(path),
            remedy=say(
                f"一つを指定してください (例: {games[0].path})",
                f"name one, e.g. {games[0].path}",
            ),
        )
    game = games[0]
    kind = player_kind(agent)
    if kind.roles and model is None and watch:
        raise InputError(
            say(
                f"プレイヤー {agent} にはモデルが要りますが、指定されていません",
                f"the player {agent} needs a model, and none is given",
            ),
            place="--model",
            remedy=say(
                "--model PROVIDER:NAME を付けるか、"
                "モデルの要らないプレイヤー (--agent planner) を選んでください",
                "give --model PROVIDER:NAME, or choose a player without one: --agent planner",
            ),
        )
    context = PlayerContext(
        game=game.id,
        seed=seed,
        max_steps=max_steps or game.default_steps,
        settings=kind.settings.model_validate(typed(kind.settings, pairs(given))),
    )
    sitting = Sitting(
        game=game.id,
        path=game.path,
        max_steps=context.max_steps,
        new=lambda: kind.new(context),
        cheap=not kind.roles,
        models=dict.fromkeys(kind.roles, model) if model else {},
        settings=settings,
        watch=watch,
        delay=delay,
    )
    try:
        result = play(sitting, Stage(console))
    except KeyboardInterrupt:
        console.print(say("中断しました。", "Interrupted."), style="red")
        return 130
    console.print(ending(result), style="bold")
    return 0
