"""`naisei intent feedback`."""

from __future__ import annotations

import json as jsons
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.core import InputError
from naisei.lang import say

__all__ = ["command"]

User = Annotated[
    str,
    typer.Option(
        "--user",
        metavar="NAME",
        help=say("評価を覚えておくユーザーの名前", "Whose feedback counts."),
        rich_help_panel=say("ユーザー", "Person"),
    ),
]
Show = Annotated[
    bool, typer.Option("--show", help=say("今のしきい値と評価の一覧", "Thresholds and feedback."))
]
Undo = Annotated[bool, typer.Option("--undo", help=say("最後の評価を取り消す", "Undo the last."))]
Reset = Annotated[bool, typer.Option("--reset", help=say("初めに戻す", "Start afresh."))]
Give = Annotated[
    Literal["good", "bad", "too-much", "too-little"] | None,
    typer.Option("--give", help=say("評価を記録する", "Record feedback.")),
]


def command(
    show: Show = False,
    undo: Undo = False,
    reset: Reset = False,
    give: Give = None,
    user: User = "default",
    json: options.Json = False,
) -> None:
    from naisei.intent.feedback import adjusted, place, read_feedback, standing, write_feedback
    from naisei.intent.schemas import Thresholds
    from naisei.terminal import visible

    if sum((undo, reset, give is not None)) > 1:
        raise InputError(
            say(
                "--undo、--reset、--give は一度に一つだけです",
                "only one of --undo, --reset and --give at a time",
            ),
            place="naisei intent feedback",
        )
    path = place("feedback", user, option="--user", suffix=".jsonl")
    lines = read_feedback(path)
    if undo and not standing(lines):
        raise InputError(
            say(
                f"取り消せる '{user}' の評価がありません",
                f"there is no feedback of '{user}' to undo",
            ),
            place="--undo",
        )
    if undo or reset or give:
        write_feedback(path, "undo" if undo else "reset" if reset else give or "good")
        lines = read_feedback(path)
    base = Thresholds()
    now = adjusted(base, lines)
    kept = standing(lines)
    if json:
        out = {
            "user": user,
            "thresholds": _plain(now),
            "default": _plain(base),
            "feedback": [line.model_dump(mode="json") for line in kept],
            "file": str(path),
        }
        print(jsons.dumps(out, ensure_ascii=False), flush=True)
        return
    for name, value in _plain(now).items():
        before = getattr(base, name)
        moved = "" if value == before else say(f"（初め {before}）", f" (was {before})")
        print(f"{name}: {value}{moved}")
    for line in kept:
        print(visible(f"  {line.at:%Y-%m-%d %H:%M} {line.sign} {line.about}".rstrip()))
    if not kept:
        print(say("評価はまだありません。", "No feedback yet."))


def _plain(cuts: object) -> dict[str, int]:
    names = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
    return {name: int(getattr(cuts, name)) for name in names}
