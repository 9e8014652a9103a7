"""Taggers as they are named on the command line: `crf-context:l2=2,steps=50`."""

from __future__ import annotations

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say

__all__ = ["parsed"]


def parsed(spec: str) -> tuple[str, dict[str, JsonValue]]:
    """Name and settings, which are still text.

    >>> parsed("crf:l2=2,steps=50")
    ('crf', {'l2': '2', 'steps': '50'})

    Raises:
        InputError: a setting without a value, or one that comes twice.
    """
    name, _, rest = spec.partition(":")
    options: dict[str, JsonValue] = {}
    for word in rest.split(",") if rest else ():
        key, equals, value = (part.strip() for part in word.partition("="))
        if not (key and equals and value) or key in options:
            raise InputError(
                say(f"'{word}' は設定として読めません", f"'{word}' is no setting, or comes twice"),
                place=f"--tagger {spec}",
                remedy=say("書き方: 名前:鍵=値,鍵=値", "write NAME:KEY=VALUE,KEY=VALUE"),
            )
        options[key] = value
    return name.strip(), options
