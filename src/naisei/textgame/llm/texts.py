"""The game's texts without what is drawn around them."""

from __future__ import annotations

import re

__all__ = ["opening_words", "plain"]

#: The prompt and status line that interpreters leave at the end: `>   … -= Pantry =-0/1`.
_STATUS = re.compile(r"\n\s*>\s*(-= [^=\n]+ =-\s*-?\d+\s*/\s*\d+)?\s*$")
#: Letters drawn with signs, as the title at the start is.
_DRAWN = re.compile(r"^[^a-z\n]*(\${2,}|_{4,}|\|\s+\\)[^\n]*$", re.M)
_ROOM = re.compile(r"-= [^=\n]+ =-")


def plain(text: str) -> str:
    """On one line, without the title's drawing and the status line."""
    return " ".join(_DRAWN.sub("", _STATUS.sub("", text)).split())


def opening_words(feedback: str) -> str:
    """What the game says before the first room: what is to be done, as a rule."""
    said = _DRAWN.sub("", _STATUS.sub("", feedback))
    return plain(_ROOM.split(said, maxsplit=1)[0])
