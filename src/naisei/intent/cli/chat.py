"""`naisei intent chat`."""

from __future__ import annotations

from pathlib import Path

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint
from naisei.intent.cli import flags
from naisei.intent.cli.ask import Name

__all__ = ["command"]


@grouped
def command(
    index: flags.IndexDir = Path(".naisei-index"),
    session: Name = None,
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
    from naisei.intent.chat_commands import Chat
    from naisei.intent.cli.read import config_of
    from naisei.intent.execute import Session
    from naisei.runs.budget import Budget

    config = config_of(index, behaviour, models, person)
    sitting = Session(settings=endpoint.settings(), budget=Budget(max_usd, max_tokens), cache=cache)
    raise typer.Exit(Chat(config, sitting, name=session, json=json).serve())
