"""Two texts side by side: the lines in which they differ, and a text cut to what a page holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from markupsafe import escape

#: Lines of a text that are compared; longer ones are compared as they stand.
_MOST = 400


@dataclass(frozen=True, slots=True)
class Part:
    """way: `same`, `gone` or `new`."""

    way: str
    text: str


def page_bytes(text: str) -> int:
    """What a text takes on a page, where it stands escaped."""
    return len(str(escape(text)).encode())


def cut(text: str, room: int) -> str:
    """The beginning of a text that takes at most so many bytes of a page, with a mark where the
    rest is left out."""
    if len(text) * 6 <= room or page_bytes(text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if page_bytes(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low]}… ({len(text):,})"


def differing(before: str, after: str, *, room: int, around: int = 1) -> list[Part]:
    """What changed from one text to the other, line by line, with `around` lines left and right of
    each change; empty where they are the same. room: bytes on the page."""
    if before == after:
        return []
    old, new = before.split("\n")[:_MOST], after.split("\n")[:_MOST]
    parts: list[Part] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            parts += _same(old[a:b], around, first=a == 0, last=b == len(old))
            continue
        parts += [Part("gone", line) for line in old[a:b]]
        parts += [Part("new", line) for line in new[c:d]]
    return _fitting(parts, room)


def _same(lines: Sequence[str], around: int, *, first: bool, last: bool) -> list[Part]:
    head, tail = (0 if first else around), (0 if last else around)
    if len(lines) <= head + tail + 1:
        return [Part("same", line) for line in lines]
    kept = [*lines[:head], "…", *(lines[-tail:] if tail else ())]
    return [Part("same", line) for line in kept]


def _fitting(parts: Sequence[Part], room: int) -> list[Part]:
    fitting: list[Part] = []
    for part in parts:
        line = cut(part.text, max(room, 0))
        room -= page_bytes(line) + 20
        fitting.append(Part(part.way, line))
        if room <= 0:
            break
    return fitting
