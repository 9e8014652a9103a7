"""Sentences of a spoken line. Source: the retry-judgement specification, §6.1."""

from __future__ import annotations

import re

__all__ = ["count_sentences", "sentences_from", "utterance_sentences"]

_PIECE = re.compile(r"[^。！？\n]+[。！？]*")
#: Marks that are no sentence by themselves.
_DECORATION = " \t…、・〜ー♪☆★♡♥」）,.。！？"
_ENDS = frozenset("。！？")
#: A piece from its first character that is no decoration.
_SAID = re.compile(rf"[^{_DECORATION}\n][^。！？\n]*")


def count_sentences(masked: str) -> int:
    """How many `utterance_sentences` there are; most lines are asked for no more."""
    return len(_SAID.findall(masked))


def sentences_from(masked: str, number: int) -> tuple[int, int]:
    """Span from the sentence of this number, counted from 0, to the end of the last one."""
    said = [found.span() for found in _SAID.finditer(masked)]
    start, end = said[number][0], said[-1][1]
    while start and masked[start - 1] not in "。！？\n":
        start -= 1
    while masked[end : end + 1] in _ENDS:
        end += 1
    return start, end


def utterance_sentences(masked: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a folded line whose quotations are masked.

    A run of 。！？ ends one, and so does a line break without a mark, and the text's end.
    Marks belong to their sentence. Pieces of nothing but marks are no sentences.
    """
    return [m.span() for m in _PIECE.finditer(masked) if m[0].strip(_DECORATION)]
