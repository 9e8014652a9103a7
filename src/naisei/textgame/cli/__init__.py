"""`naisei textgame`: ablate, learn, make, record, run, play, train."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from naisei.cli import derived
from naisei.cli.demo import DEMO, command_of
from naisei.lang import say
from naisei.system.declare import System, Verb
from naisei.textgame.cli import ablate, make, play, run

__all__ = ["app"]

_ABOUT = (
    "テキストゲームを読み、計画し、同じ失敗をしないプレイヤー",
    "Players of text games that read, plan, and do not repeat a mistake.",
)
_TRAINING = "naisei.textgame.trained.training.command"
_LEARNING = "naisei.textgame.learning.commands"
LEARN = System(
    name="textgame",
    about=_ABOUT,
    verbs=(
        Verb(
            "record",
            (
                "ゲームに付いた解答を再生し、学習用に記録する",
                "Replay walkthroughs to learn from.",
            ),
            f"{_TRAINING}:record",
        ),
        Verb(
            "train",
            (
                "解答から学ぶプレイヤーを学習させる",
                "Train the player that learns walkthroughs.",
            ),
            f"{_TRAINING}:train",
        ),
        Verb(
            "learn",
            (
                "解答なしで、自分で遊んだ料理ゲームの得点と負けから規則を学ぶ",
                "Learn the rules of cooking games from own play: points and losses, no "
                "walkthroughs.",
            ),
            f"{_LEARNING}:learn",
        ),
        Verb(
            "learning-curve",
            ("学習曲線の表と図", "Table and picture of measured learning curves."),
            f"{_LEARNING}:learning_curve",
        ),
    ),
)


class _Group(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        if name in {verb.name for verb in LEARN.verbs}:
            return name, derived.command_of(LEARN, name), rest
        return name, found, rest


app = typer.Typer(cls=_Group, no_args_is_help=True, help=say(*_ABOUT))

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
for verb in LEARN.verbs:
    app.command(verb.name, help=say(*verb.about))(lambda: None)
app.add_typer(make.app, name="make")
