"""`naisei intent demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.lang import say

__all__ = ["command"]

LLM = Annotated[
    bool,
    typer.Option(
        "--llm/--no-llm",
        help=say("組み込みモデルにも答えさせる", "Let the embedded model answer too."),
    ),
]


def command(llm: LLM = True, run_dir: options.RunDir = None, seed: options.Seed = 0) -> None:
    # The other commands do not wait for it.
    from naisei.intent.demo import demo

    raise typer.Exit(demo(llm=llm, run_dir=run_dir))
