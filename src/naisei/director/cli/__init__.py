"""`naisei director`: check, talk, report, characters, demo."""

from __future__ import annotations

import typer

from naisei.cli.demo import DEMO, command_of
from naisei.cli.lang import say
from naisei.director.cli import characters, check, report, talk

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "発言を口に出す前に検査する。不合格の案は跡を残さない",
        "Check lines before they are spoken; rejected ones leave no trace.",
    ),
)

app.command(
    "check",
    help=say(
        "発言を 1 行ずつ検査する (モデル不要)",
        "Check lines by the rules that need no model, one verdict each.",
    ),
)(check.command)
app.command(
    "talk",
    help=say(
        "二人に話題を与えて話させる。案ごとに判定を見せる",
        "Let two characters talk about a topic; every draft is shown with its verdict.",
    ),
)(talk.command)
app.command(
    "report",
    help=say(
        "台本全体の報告を HTML と CSV で書く (モデル不要)",
        "Report on a whole script as HTML and CSV; needs no model.",
    ),
)(report.command)
app.command("demo", help=DEMO)(command_of("director"))
app.add_typer(characters.app, name="characters")
