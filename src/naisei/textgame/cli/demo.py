"""`naisei textgame demo`."""

from __future__ import annotations

import typer

from naisei.cli import options

__all__ = ["command"]


def command(run_dir: options.RunDir = None, seed: options.Seed = 0) -> None:
    # The other commands do not wait for it.
    from naisei.textgame.demo import demo

    raise typer.Exit(demo(run_dir=run_dir, seed=seed))
