"""Makers of games that make nothing much, for worker processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from naisei.textgame.make.many import Made


def made(name: str) -> Made:
    return Made(
        file=name, family="cooking", split="test", settings={}, seeds={}, max_score=3, walkthrough=4
    )


def maker(name: str, folder: Path) -> Made:
    """Makes a file and notes that it did."""
    with (folder / "made.log").open("a") as log:
        log.write(name + "\n")
    (folder / name).write_text("game")
    return made(name)


def killed(folder: Path) -> Made:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(folder)
