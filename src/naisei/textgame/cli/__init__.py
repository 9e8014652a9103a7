"""`naisei textgame`: make, run."""

from __future__ import annotations

import typer

from naisei.cli.lang import say
from naisei.textgame.cli import make, run

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "テキストゲームを読み、計画し、同じ失敗をしないプレイヤー",
        "Players of text games that read, plan, and do not repeat a mistake.",
    ),
)

app.command(
    "run",
    help=say("ゲームを遊ばせて成績を出す", "Let a player play games, and report the figures."),
)(run.command)
app.add_typer(make.app, name="make")
