"""The texts of the engine without what is there for a game console only."""

from __future__ import annotations

import re

__all__ = ["readable"]

#: textworld's banner is drawn with these, and its prompt ends with a status line.
_BANNER = re.compile(r"^[\s$\\/|_>]*$")
#: What the engine puts into the middle of a console's line.
_CENTRED = re.compile(r"^ {8,}(?=\S)", re.M)
_PROMPT = re.compile(r"\n\s*>\s*(?:-=.*)?\Z", re.S)
#: What the interpreter asks once a game has ended.
_AFTER_THE_END = re.compile(r"\n\s*Would you like to RESTART\b.*", re.S)


def readable(text: str) -> str:
    """Without banner, prompt and needless empty lines."""
    lines = [line.rstrip() for line in _AFTER_THE_END.sub("", _PROMPT.sub("", text)).splitlines()]
    while lines and _BANNER.match(lines[0]):
        del lines[0]
    return re.sub(r"\n{3,}", "\n\n", _CENTRED.sub("", "\n".join(lines))).strip()
