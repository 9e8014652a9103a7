"""Line differences between two texts, and truncation of a text to fit a page."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice

from markupsafe import escape

#: Maximum length of compared texts, in lines.
_MOST = 400
_WAYS = {" ": "same", "-": "gone", "+": "new"}


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a difference. way: `same`, `gone` or `new`."""

    way: str
    text: str


def page_bytes(text: str) -> int:
    """Return the size in bytes of a text on a page, escaped."""
    return len(str(escape(text)).encode())


def cut(text: str, room: int) -> str:
    """Truncate a text to about this many bytes, with a mark for the rest."""
    if (bytes := page_bytes(text)) <= room:
        return text
    return f"{text[: len(text) * max(room, 0) // bytes]}… ({len(text):,})"


def differing(before: str, after: str, *, room: int) -> list[Part]:
    """Return the line differences of two texts, with one line of context; empty if they are equal.
    room: available bytes on the page."""
    old, new = before.split("\n")[:_MOST], after.split("\n")[:_MOST]
    parts: list[Part] = []
    for line in islice(unified_diff(old, new, n=1, lineterm=""), 2, None):
        if room <= 0:
            break
        way = _WAYS.get(line[:1])
        text = "…" if way is None else cut(line[1:], room)
        room -= page_bytes(text) + 20
        parts.append(Part(way or "same", text))
    return parts
