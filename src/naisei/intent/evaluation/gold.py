"""Whether what was found is what answers: a chunk of the gold document that holds the quote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from naisei.core import Evidence
from naisei.intent.evaluation.items import Gold

__all__ = ["DEPTH", "first_rank", "holds", "ranks"]

#: How far down a ranking is looked.
DEPTH = 10
#: A chunk that was cut within the passage counts if it holds this share of the quote …
_MOST = 0.8
#: … in pieces of at least so many characters.
_PIECE = 4
#: White space, and the marks of tables and lists: how they are written is the loader's matter.
_LAYOUT = re.compile(r"[\s|｜\u200b\ufeff*#`]+")


@lru_cache(maxsize=8192)
def _folded(text: str) -> str:
    return _LAYOUT.sub("", unicodedata.normalize("NFKC", text)).lower()


def holds(chunk: Evidence, gold: Gold) -> bool:
    """Whether the chunk is from the document and contains the quote, or most of it.

    White space, width, case and table marks are folded.
    """
    if chunk.meta.get("path") != gold.path:
        return False
    text, quote = _folded(chunk.text), _folded(gold.quote)
    if quote in text:
        return True
    blocks = SequenceMatcher(None, quote, text, autojunk=False).get_matching_blocks()
    return sum(b.size for b in blocks if b.size >= _PIECE) >= _MOST * len(quote)


def ranks(found: Sequence[Evidence], gold: Sequence[Gold]) -> tuple[int | None, ...]:
    """For each gold passage the rank, from 1, of the first chunk that holds it, down to `DEPTH`."""
    return tuple(
        next((n for n, chunk in enumerate(found[:DEPTH], 1) if holds(chunk, passage)), None)
        for passage in gold
    )


def first_rank(found: Sequence[int | None]) -> int | None:
    """The best of some ranks; `None` if nothing was found."""
    return min((rank for rank in found if rank is not None), default=None)
