"""Sentences of a spoken line. Source: the retry-judgement specification, §6.1."""

from __future__ import annotations

import re

__all__ = ["count_sentences", "utterance_sentences"]

_PIECE = re.compile(r"[^。！？\n]+[。！？]*")
#: Marks that are no sentence by themselves.
_DECORATION = " \t…、・〜ー♪☆★♡♥」）,.。！？"
#: A piece from its first character that is no decoration.
_SAID = re.compile(rf"[^{_DECORATION}\n][^。！？\n]*")


def count_sentences(masked: str) -> int:
    """How many `utterance_sentences` there are; most lines are asked for no more."""
    return len(_SAID.findall(masked))


def utterance_sentences(masked: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a folded line whose quotations are masked.

    A run of 。！？ ends one, and so does a line break without a mark, and the text's end.
    Marks belong to their sentence. Pieces of nothing but marks are no sentences.
    """
    return [m.span() for m in _PIECE.finditer(masked) if m[0].strip(_DECORATION)]
