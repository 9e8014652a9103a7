"""`naisei clarify`: run, ablate, audit, chat, demo."""

from __future__ import annotations

import typer

from naisei.clarify.cli import ablate, audit, chat, run
from naisei.cli.demo import DEMO, command_of
from naisei.cli.lang import say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "曖昧な発話に、聞き返してから行動する (R-Clarify)",
        "Ask before acting on ambiguous requests (R-Clarify).",
    ),
)

app.command(
    "run",
    help=say(
        "データ上でエージェントを動かし、表と報告を作る",
        "Run agents on data; prints a table with intervals and writes a report.",
    ),
)(run.command)
app.command(
    "ablate",
    help=say(
        "論文の表 2 と表 3: TUR、質問、その両方を外したときと、Reflexion との比較",
        "The paper's Tables 2 and 3: without TUR, without asking, without both, and Reflexion.",
    ),
)(ablate.command)
app.command(
    "chat",
    help=say(
        "ターミナルで話す。あなたがユーザーになる",
        "Talk to it in the terminal: you are the user.",
    ),
)(chat.command)
app.command(
    "audit",
    help=say(
        "ユーザー役のシミュレーターを調べる: 漏えい、矛盾、誤導、回答拒否",
        "Audit a user simulator: leaks, contradictions, misleading answers, refusals.",
    ),
)(audit.command)
app.command("demo", help=DEMO)(command_of("clarify"))
