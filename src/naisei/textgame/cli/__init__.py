"""`naisei textgame`: ablate, learn, make, record, run, play, train."""

from __future__ import annotations

import typer

from naisei.cli.demo import DEMO, command_of
from naisei.lang import say
from naisei.textgame.cli import ablate, learn, make, play, run, train

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
app.command("demo", help=DEMO)(command_of("textgame"))
app.command(
    "record",
    help=say("ゲームに付いた解答を再生し、学習用に記録する", "Replay walkthroughs to learn from."),
)(train.record)
app.command(
    "train",
    help=say("解答から学ぶプレイヤーを学習させる", "Train the player that learns walkthroughs."),
)(train.train)
app.command(
    "learn",
    help=say(
        "解答なしで、自分で遊んだ料理ゲームの得点と負けから規則を学ぶ",
        "Learn the rules of cooking games from own play: points and losses, no walkthroughs.",
    ),
)(learn.command)
app.command(
    "learning-curve",
    help=say("学習曲線の表と図", "Table and picture of measured learning curves."),
)(learn.curve)
app.add_typer(make.app, name="make")
