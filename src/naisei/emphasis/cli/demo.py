"""`naisei emphasis demo`."""

from __future__ import annotations

import typer

__all__ = ["command"]


def command() -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.demo import demo

    raise typer.Exit(demo())
