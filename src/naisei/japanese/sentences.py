"""Sentences of a text, Japanese or English."""

from __future__ import annotations

import re

from naisei.japanese.normal import normalise

__all__ = ["sentences"]

_END = re.compile(r"[^。！？\n]*(?:[。！？]+|\n|$)")
_END_EN = re.compile(r"(?<=[.!?])\s+")
_OPEN, _CLOSE = "「（(", "」）)"


def sentences(text: str) -> tuple[str, ...]:
    """Sentences in order, marks kept, quotations 「…。…」 not cut. Empty text gives ().

    >>> sentences("眠いの？ それとも、のどが渇いた？")
    ('眠いの？', 'それとも、のどが渇いた？')
    """
    folded = normalise(text)
    if re.search(r"[\u3040-\u30ff\u3400-\u9fff]", folded) is None:
        return tuple(s for s in _END_EN.split(folded) if s)
    found: list[str] = []
    depth, held = 0, ""
    for piece in _END.findall(folded):
        held += piece
        depth += sum(piece.count(c) for c in _OPEN) - sum(piece.count(c) for c in _CLOSE)
        if depth <= 0:
            if held.strip():
                found.append(held.strip())
            depth, held = 0, ""
    if held.strip():
        found.append(held.strip())
    return tuple(found)
