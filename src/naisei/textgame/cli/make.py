"""`naisei textgame make cooking | cleanup`."""

from __future__ import annotations

import typer

from naisei.cli import options
from naisei.lang import say
from naisei.textgame.cli import flags

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help=say("ゲームを作る", "Make games."))


@app.command(
    "cooking",
    help=say(
        "First TextWorld Problems と同じ構成の料理ゲームを作る",
        "Make cooking games on the grid of First TextWorld Problems.",
    ),
)
def cooking(
    out: flags.Out,
    split: flags.Split = "test",
    n: flags.Count = None,
    seed: options.Seed = 0,
    processes: flags.Processes = None,
) -> None:
    from naisei.textgame.make_commands import make_cooking_games

    raise typer.Exit(make_cooking_games(split, out, count=n, seed=seed, processes=processes))


@app.command(
    "cleanup",
    help=say(
        "TWC のような片付けゲームを、独自の物と場所の一覧から作る",
        "Make games of tidying up like TWC's, from our own list of things and places.",
    ),
)
def cleanup(
    out: flags.Out,
    split: flags.Split = "test",
    level: flags.Level = "",
    rooms: flags.Rooms = None,
    n: flags.CountOfLevel = None,
    seed: options.Seed = 0,
    processes: flags.Processes = None,
) -> None:
    from naisei.textgame.make_commands import make_cleanup_games

    code = make_cleanup_games(
        split, level, out, rooms=rooms, count=n, seed=seed, processes=processes
    )
    raise typer.Exit(code)
