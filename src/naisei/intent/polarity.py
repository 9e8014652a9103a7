"""Whether a sentence denies something. Words: polarity.toml."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files


@cache
def _words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Denials, and words that only look like one."""
    data = tomllib.loads((files("naisei.intent") / "polarity.toml").read_text(encoding="utf-8"))
    return re.compile(data["denied"]), re.compile(data["affirmed"])


def denies(text: str) -> bool:
    """Whether it denies something; duties (なければなりません) and conditions (ないとき) do not.

    >>> denies("支所では預かりません。"), denies("届け出なければなりません。")
    (True, False)
    """
    denied, affirmed = _words()
    return denied.search(affirmed.sub("", unicodedata.normalize("NFKC", text))) is not None
