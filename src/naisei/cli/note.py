"""`naisei runs note`: what people write beside a run, as the page of the run has it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from naisei.cli.fork import Dir
from naisei.core import InputError
from naisei.lang import say
from naisei.runs.annotations import Annotations
from naisei.runs.report import STUDY
from naisei.system.config import Options, Printed, flag
from naisei.terminal import json_text, visible

NOTE_HELP = say(
    "実行にメモとタグを付ける。何も付けなければ、いまのものを示す",
    "Write a note and tags beside a run; without any, show what there is.",
)


class Noted(Options):
    tag: tuple[str, ...] = flag((), "付けるタグ", "Add this tag.", metavar="T")
    untag: tuple[str, ...] = flag((), "外すタグ", "Take this tag away.", metavar="T")


def note(
    directory: Dir,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help=say(
                "メモ。前のメモに代わる。空文字で消える",
                "The note, in the place of the last one; an empty one removes it.",
            ),
        ),
    ] = None,
    *,
    plan: Noted,
    printed: Printed,
) -> None:
    if not any((directory / name).is_file() for name in ("config.json", STUDY)):
        raise InputError(
            say("実行のディレクトリではありません", "no run directory"),
            place=str(directory),
            remedy=say("naisei runs list で探せます", "naisei runs list finds them"),
        )
    before = Annotations.read(directory)
    written = Annotations.parsed(
        " ".join((*before.tags, *plan.tag)), before.note if text is None else text
    )
    away = Annotations.parsed(" ".join(plan.untag), "").tags
    written = Annotations(tuple(t for t in written.tags if t not in away), written.note)
    if written != before:
        written.write(directory)
    if printed.as_json:
        print(json_text(asdict(written)))
    elif written != Annotations():
        tags = " ".join(f"#{tag}" for tag in written.tags)
        print(visible("\n".join(part for part in (tags, written.note) if part)))
