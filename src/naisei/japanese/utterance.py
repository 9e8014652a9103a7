"""Sentences of a spoken line. Source: the retry-judgement specification, §6.1."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["count_sentences", "sentences_from", "utterance_sentences"]

_PIECE = re.compile(r"[^。！？\n]+[。！？]*")
#: Marks that are no sentence by themselves.
_DECORATION = " \t…、・〜ー♪☆★♡♥」）,.。！？"
#: A piece from its first character that is no decoration.
_SAID = re.compile(rf"[^{_DECORATION}\n][^。！？\n]*")


def count_sentences(masked: str) -> int:
    """How many `utterance_sentences` there are; most lines are asked for no more."""
    return len(_SAID.findall(masked))


def sentences_from(masked: str, number: int) -> tuple[int, int]:
    """Span from the sentence of this number, counted from 0, to the end of the last one.

    The text's end, if there is none of this number.
    """
    found = _from(number).match(masked)
    return found.span(1) if found else (len(masked), len(masked))


@lru_cache(maxsize=16)
def _from(number: int) -> re.Pattern[str]:
    """So many sentences, then what is asked for, from the mark before it to the last said.

    One expression in place of a list of all sentences. Those before give nothing back
    (`*+`), so that it is linear, and none of them is read as two.
    """
    return re.compile(
        rf"(?:[{_DECORATION}\n]*+{_SAID.pattern}+){{{number}}}(?:[{_DECORATION}\n]*[。！？\n])?"
        rf"((?s:.*){_SAID.pattern}[。！？]*)"
    )


def utterance_sentences(masked: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a folded line whose quotations are masked.

    A run of 。！？ ends one, and so does a line break without a mark, and the text's end.
    Marks belong to their sentence. Pieces of nothing but marks are no sentences.
    """
    return [m.span() for m in _PIECE.finditer(masked) if m[0].strip(_DECORATION)]
