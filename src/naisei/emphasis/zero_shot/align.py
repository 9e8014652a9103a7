"""What a reply emphasises, found again in the text that it was to repeat.

Strict: the reply, its marks and white space taken out, is laid beside the source character by
character. A marked stretch counts only where all of it stands in the source, in one piece and
at the place that the words around it give; what was made up, moved or reworded is dropped and
counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

__all__ = ["Aligned", "align"]

_MARK = re.compile(r"\*\*|__|</?(?:b|strong|em)>", re.I)
_FENCE = re.compile(r"^\s*```[^\n]*\n(.*?)\n?```\s*$", re.DOTALL)
#: Not compared: white space, and marks that the source has of its own.
_SILENT = re.compile(r"[\s*]|__")


@dataclass(frozen=True, slots=True)
class Aligned:
    """bold: for each character of the source, whether it is emphasised. share: of the source's
    characters that the reply repeats in order, 0 to 1. lost: marked stretches of the reply that
    do not stand in the source."""

    bold: tuple[bool, ...]
    share: float
    lost: int


def align(source: str, reply: str) -> Aligned:
    """White space is never compared and never emphasised by itself."""
    if fenced := _FENCE.match(reply):
        reply = fenced[1]
    ours, places = _plain(source)
    theirs, runs = _marked(reply)
    at = _places(ours, theirs)
    bold = [False] * len(source)
    lost = 0
    for start, end in runs:
        found = at[start:end]
        if None in found or any(b != a + 1 for a, b in _pairs(found)):
            lost += 1
            continue
        first, last = found[0], found[-1]
        assert first is not None and last is not None
        for place in range(places[first], places[last] + 1):
            bold[place] = True
    share = sum(place is not None for place in at) / len(ours) if ours else 1.0
    return Aligned(tuple(bold), share, lost)


def _plain(source: str) -> tuple[str, list[int]]:
    """The characters that are compared, and where each stands."""
    silent = {i for found in _SILENT.finditer(source) for i in range(*found.span())}
    places = [i for i in range(len(source)) if i not in silent]
    return "".join(source[i] for i in places), places


def _marked(reply: str) -> tuple[str, list[tuple[int, int]]]:
    """The characters that are compared, and the marked stretches of them; a mark that is not
    closed ends with its line."""
    text, runs, opened = "", [], -1
    for line in reply.splitlines():
        at = 0
        for mark in [*_MARK.finditer(line), None]:
            stop = mark.start() if mark else len(line)
            text += _SILENT.sub("", line[at:stop])
            at = mark.end() if mark else stop
            if opened >= 0:
                if len(text) > opened and mark:
                    runs.append((opened, len(text)))
                opened = -1
            elif mark and not mark[0].startswith("</"):
                opened = len(text)
    return text, runs


def _places(ours: str, theirs: str) -> list[int | None]:
    """For each character of the reply, where it stands in the source; `None`: nowhere."""
    if ours == theirs:
        return list(range(len(ours)))
    at: list[int | None] = [None] * len(theirs)
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        at[block.b : block.b + block.size] = range(block.a, block.a + block.size)
    return at


def _pairs(found: list[int | None]) -> list[tuple[int, int]]:
    known = [place for place in found if place is not None]
    return list(pairwise(known))
