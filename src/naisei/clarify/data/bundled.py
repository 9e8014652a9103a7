"""`ambigact40-open`: the data set that comes with the package. Source: its data card."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from naisei.clarify.data.loader import Loaded, load_path
from naisei.core import InputError

__all__ = ["build", "folder"]


def folder() -> Path:
    """Where the files of `ambigact40-open` lie."""
    return Path(str(files("naisei") / "data" / "ambigact40_open"))


def build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
    """`ambigact40-open[:SPLIT]`; `test` by default. The seed has no part in it.

    Raises:
        InputError: unknown split, or two splits that differ.
    """
    if argument and split and argument != split:
        raise InputError(
            f"two splits are asked for: '{argument}' and '{split}'",
            place="--data",
            remedy="give one of them",
        )
    return load_path(folder(), split=argument or split or "test", actions=actions)
