"""Whether a sentence denies something, and whether two sentences say the opposite: needed or not,
free or not, possible or not. Words: polarity.toml."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class _Words(NamedTuple):
    """denied, affirmed: a denial, and what only looks like one.
    poles: (what it is about, said to hold, said not to hold)."""

    denied: re.Pattern[str]
    affirmed: re.Pattern[str]
    poles: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]


@cache
def _words() -> _Words:
    data = tomllib.loads((files("naisei.intent") / "polarity.toml").read_text(encoding="utf-8"))
    return _Words(
        re.compile(data["denied"]),
        re.compile(data["affirmed"]),
        tuple((p["name"], re.compile(p["yes"]), re.compile(p["no"])) for p in data["pole"]),
    )


def denies(text: str) -> bool:
    """Whether it denies something; duties (なければなりません) and conditions (ないとき) do not.

    >>> denies("支所では預かりません。"), denies("届け出なければなりません。")
    (True, False)
    """
    words = _words()
    return words.denied.search(words.affirmed.sub("", _plain(text))) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def opposed(sentence: str, others: Sequence[str]) -> str:
    """What the sentence says of a matter where the others say nothing but its opposite; empty if
    there is none.

    >>> opposed("手数料は無料です。", ["手数料がかかります。"])
    '無料'
    """
    plain, told = _plain(sentence), [_plain(other) for other in others]
    for name, yes, no in _words().poles:
        says_no = no.search(plain) is not None
        says_yes = yes.search(no.sub("", plain)) is not None
        if says_yes == says_no:
            continue
        yesses = any(yes.search(no.sub("", other)) for other in told)
        noes = any(no.search(other) for other in told)
        if (says_yes and noes and not yesses) or (says_no and yesses and not noes):
            return name
    return ""
