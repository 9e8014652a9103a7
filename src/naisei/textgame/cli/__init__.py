"""`naisei textgame`: ablate, make, run, play."""

from __future__ import annotations

import typer

from naisei.cli.lang import say
from naisei.textgame.cli import ablate, demo, make, play, run

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
app.command(
    "play",
    help=say(
        "端末で遊ぶ。? でプレイヤーの考えを聞き、--watch で眺める",
        "Play in the terminal; ? asks a player what it would do, --watch lets it play.",
    ),
)(play.command)
app.command(
    "ablate",
    help=say(
        "LLM プレイヤーのプロンプトの部分をひとつずつ外して比べる (論文の表 3.2、3.3)",
        "Compare the LLM player with parts of its prompt left out (the thesis's Tables 3.2, 3.3).",
    ),
)(ablate.command)
app.command(
    "demo",
    help=say("3 つの片付けと 5 つの料理の実演", "Three games of tidying up and five of cooking."),
)(demo.command)
app.add_typer(make.app, name="make")
