"""Where what is kept of people and sittings lies."""

from __future__ import annotations

import os
import re
from pathlib import Path

from platformdirs import user_data_path

from naisei.core import InputError
from naisei.lang import say

__all__ = ["place"]


def place(kind: str, name: str, *, option: str, suffix: str = "") -> Path:
    """`kind/name` in the data folder: `NAISEI_DATA`, or the platform's.

    Raises:
        InputError: the name cannot be a file's name.
    """
    if not re.fullmatch(r"[^\W_][\w .-]{0,63}", name) or name.endswith((".", " ")):
        raise InputError(
            say(f"{name!r} はここでは名前にできません", f"{name!r} cannot be a name here"),
            place=option,
            remedy=say(
                "64 文字までの文字、数字、- と _ を使ってください",
                "use up to 64 letters, digits, - and _",
            ),
        )
    root = os.environ.get("NAISEI_DATA")
    return (Path(root) if root else user_data_path("naisei")) / kind / f"{name}{suffix}"
