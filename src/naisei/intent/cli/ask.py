"""`naisei intent ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint
from naisei.intent.cli import flags
from naisei.lang import say

__all__ = ["command"]

Text = Annotated[
    str,
    typer.Argument(
        metavar="TEXT",
        show_default=False,
        help=say("質問、または聞き返しへの答え", "A question, or the answer to one put back."),
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="NAME",
        help=say("この名前の会話を続ける", "Go on with the sitting of this name."),
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help=say(
            "会話をこの JSON ファイルに置き、そこから続ける",
            "Keep the sitting in this JSON file, and go on from it.",
        ),
    ),
]
New = Annotated[
    bool,
    typer.Option("--new", help=say("聞き返しに答えず、新しい用件にする", "A new request.")),
]


@grouped
def command(
    text: Text,
    index: flags.IndexDir = Path(".naisei-index"),
    session: Name = None,
    history: History = None,
    new: New = False,
    run_dir: options.RunDir = None,
    max_usd: options.MaxUsd = None,
    max_tokens: options.MaxTokens = None,
    cache: options.Cache = None,
    json: options.Json = False,
    *,
    behaviour: flags.Behaviour,
    person: flags.Person,
    models: flags.Models,
    endpoint: Endpoint,
) -> None:
    # The other commands do not wait for it.
    from naisei.intent.cli.read import config_of
    from naisei.intent.commands import ask
    from naisei.intent.execute import Session
    from naisei.lengths import MESSAGE, bounded
    from naisei.runs.budget import Budget

    bounded(text, MESSAGE, place="TEXT")
    config = config_of(index, behaviour, models, person)
    sitting = Session(settings=endpoint.settings(), budget=Budget(max_usd, max_tokens), cache=cache)
    raise typer.Exit(
        ask(
            text,
            config,
            sitting,
            name=session,
            history=history,
            new=new,
            run_dir=run_dir,
            json=json,
        )
    )
