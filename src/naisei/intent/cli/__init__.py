"""`naisei intent`: index, ask, chat, feedback, eval, serve, demo."""

from __future__ import annotations

import typer

from naisei.cli.demo import DEMO, command_of
from naisei.intent.cli import ask, chat, eval, feedback, index, serve
from naisei.lang import say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help=say(
        "資料を探す前に聞き返す、社内資料の案内役",
        "A document assistant that asks back before it searches.",
    ),
)

app.command(
    "index",
    help=say(
        "フォルダーの資料を索引にする (変わったものだけ)",
        "Index a folder of documents; only what changed is read again.",
    ),
)(index.command)
app.command(
    "ask",
    help=say(
        "一つ尋ねる。答えの代わりに聞き返されることもある",
        "Ask one thing; the reply may be a question back.",
    ),
)(ask.command)
app.command("chat", help=say("ターミナルで話す", "Talk to it in the terminal."))(chat.command)
app.command(
    "feedback",
    help=say(
        "聞き返しの多さなどの評価を見る・付ける・取り消す",
        "Show, give, undo or reset feedback on how much is asked.",
    ),
)(feedback.command)
app.command(
    "eval",
    help=say(
        "質問集で測る: 聞き返しの前後の検索、答え、費用",
        "Measure on a file of questions: search before and after asking, answers, cost.",
    ),
)(eval.command)
app.command(
    "serve",
    help=say(
        "HTTP で応答する (JSON、SSE、OpenAI 互換)",
        "Answer over HTTP: JSON, server-sent events, OpenAI-compatible.",
    ),
)(serve.command)
app.command("demo", help=DEMO)(command_of("intent"))
