"""Books cut into articles: at the headings that are highest in what is too long."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from naisei.emphasis.corpus.blocks import Heading, Reading

__all__ = ["LONGEST", "cut", "unnumbered"]

#: Characters of an article, about a hundred sentences; a longer one is cut if it has headings.
LONGEST = 6_000
_NUMBER = re.compile(
    r"(?:第\s*\d+\s*[章節部編][.\s]*|(?:(?:\d+|[A-Z])\.)+\d*\s+|付録\s*[A-Z][.\s]*)"
)


def unnumbered(title: str) -> str:
    """A heading without its number.

    >>> unnumbered("第 2 章 パッケージ"), unnumbered("2.1.3. 依存"), unnumbered("A. 付録")
    ('パッケージ', '依存', '付録')
    """
    return _NUMBER.sub("", title, count=1) if _NUMBER.match(title) else title


def cut(reading: Reading, *, longest: int = LONGEST) -> list[Reading]:
    """The reading itself, or its parts in order, each titled by its heading.

    What stands before the first heading keeps the title. A part that is still too long is cut
    at its own headings; what has none stays whole.
    """
    title = unnumbered(reading.title)
    inner = [h for h in reading.headings if 0 < h.block < len(reading.blocks)]
    if sum(len(block.text) for block in reading.blocks) <= longest or not inner:
        return [replace(reading, title=title)]
    top = min(h.level for h in inner)
    starts = [h for h in reading.headings if h.level <= top and h.block < len(reading.blocks)]
    if starts[0].block > 0:
        starts.insert(0, Heading(top, title, 0))
    edges = [h.block for h in starts] + [len(reading.blocks)]
    parts: list[Reading] = []
    for heading, (first, last) in zip(starts, pairwise(edges), strict=True):
        if first < last:
            below = (replace(h, block=h.block - first) for h in reading.headings
                     if h.level > top and first <= h.block < last)  # fmt: skip
            part = Reading(heading.text or title, reading.blocks[first:last], tuple(below))
            parts += cut(part, longest=longest)
    return parts
