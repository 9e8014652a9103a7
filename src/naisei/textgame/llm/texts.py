"""The game's texts on one line each, as prompts show them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naisei.textgame.opening import readable

__all__ = ["opening_words", "plain"]

_ROOM = re.compile(r"-= [^=\n]+ =-")
_RULE = re.compile(r"[-=*_ ]*")
#: After these a line, or a paragraph, needs no sign that it ends.
_ENDED = (".", "!", "?", ":", ";", ",", "-")


def plain(text: str) -> str:
    """On one line, without the title's drawing and the status line.

    Lines of a list are parted by commas, paragraphs by full stops, so that a recipe stays one.
    """
    return _joined((_joined(_lines(p), ", ") for p in readable(text).split("\n\n")), ". ")


def opening_words(feedback: str) -> str:
    """What the game says before the first room: what is to be done, as a rule."""
    return plain(_ROOM.split(readable(feedback), maxsplit=1)[0])


def _lines(paragraph: str) -> list[str]:
    lines = (" ".join(line.split()) for line in paragraph.splitlines())
    return [line for line in lines if not _RULE.fullmatch(line)]


def _joined(parts: Iterable[str], sign: str) -> str:
    text = ""
    for part in filter(None, parts):
        text += (" " if text.endswith(_ENDED) else sign if text else "") + part
    return text
