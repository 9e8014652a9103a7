"""`naisei textgame play`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint
from naisei.lang import say
from naisei.textgame.cli import flags

__all__ = ["command"]

_Game = Annotated[
    Path,
    typer.Argument(metavar="GAME", help=say("ゲーム (.z8 か .json)", "A game (.z8 or .json).")),
]
_Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help=say("プレイヤーに遊ばせて眺める", "Let the player play, and look on.")
    ),
]
_Delay = Annotated[
    float | None,
    typer.Option(
        "--delay",
        min=0,
        metavar="SECONDS",
        help=say("--watch の一手ごとの間 (秒)", "Pause between commands with --watch."),
    ),
]


@grouped
def command(
    game: _Game,
    agent: flags.Agent = "planner",
    agent_option: flags.AgentOptions = None,
    max_steps: flags.MaxSteps = None,
    watch: _Watch = False,
    delay: _Delay = None,
    model: options.Model = None,
    seed: options.Seed = 0,
    *,
    endpoint: Endpoint,
) -> None:
    # The other commands do not wait for what only a game needs.
    from naisei.terminal import Console
    from naisei.textgame.play_commands import play_game_file

    code = play_game_file(
        game,
        agent=agent,
        given=agent_option or (),
        max_steps=max_steps,
        watch=watch,
        delay=(0.7 if sys.stdout.isatty() else 0.0) if delay is None else delay,
        model=model,
        seed=seed,
        settings=endpoint.settings(),
        console=Console(),
    )
    raise typer.Exit(code)
