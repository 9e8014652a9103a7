"""`naisei relationship personas`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

Name = Annotated[
    str,
    typer.Argument(
        metavar="[ID]",
        help=say("組の ID (その TOML を出す)", "A pair by id: print its TOML, to start from."),
        show_default=False,
    ),
]


def command(name: Name = "") -> None:
    from importlib.resources import files

    from naisei.core import InputError
    from naisei.relationship.pairs import shipped

    pairs = shipped()
    if not name:
        for pair in pairs.values():
            print(f"{pair.id:<12} {pair.language}  {pair.title}  ({pair.a.name} / {pair.b.name})")
        return
    if name not in pairs:
        raise InputError(
            say(f"{name!r} という組はありません", f"unknown pair {name!r}"),
            remedy=say(
                f"{', '.join(pairs)} のどれかを指定してください", f"use one of {', '.join(pairs)}"
            ),
        )
    sys.stdout.write((files("naisei.data") / "personas" / f"{name}.toml").read_text("utf-8"))
