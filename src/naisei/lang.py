"""The language of what is printed for people: Japanese or English."""

from __future__ import annotations

import os
from typing import Literal

__all__ = ["language", "say", "use"]

Language = Literal["ja", "en"]


def language() -> Language:
    """`NAISEI_LANG` if set, else the locale's (LC_ALL, LC_MESSAGES, LANG): `ja…` or English."""
    for variable in ("NAISEI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "ja" if value.lower().startswith("ja") else "en"
    return "en"


def say(ja: str, en: str) -> str:
    """The one of two texts that is in the user's language."""
    return ja if language() == "ja" else en


def use(chosen: str | None) -> None:
    """Follow a `--lang` option for the rest of the process; `None` leaves things as they are.

    Raises:
        InputError: neither `ja` nor `en`.
    """
    if chosen is None:
        return
    if chosen not in ("ja", "en"):
        from naisei.core import InputError  # `naisei --help` must not wait for the core

        raise InputError(f"unknown language {chosen!r}", place="--lang", remedy="use ja or en")
    os.environ["NAISEI_LANG"] = chosen
