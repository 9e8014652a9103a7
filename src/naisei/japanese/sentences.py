"""Sentences of a text, as they stand in it, and of a spoken line; lines that are headings.

Headings serve retrieval alone, spoken lines the director; both parse Japanese.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from naisei.japanese.normal import normalise

__all__ = [
    "count_sentences",
    "outline_level",
    "sentence_spans",
    "sentences",
    "sentences_from",
    "utterance_sentences",
]


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


_END_spans = re.compile(r"(?<=[。！？!?])(?![。！？!?」』）)])|(?<=\n)|(?<=[.])(?=\s)")


def sentence_spans(text: str) -> list[str]:
    """The sentences of a text, unchanged, marks and line breaks kept with what they end.

    >>> sentence_spans("はい。「寝た。」と言う。Yes. No.")
    ['はい。', '「寝た。」と言う。', 'Yes.', ' No.']
    """
    return [piece for piece in _END_spans.split(text) if piece]


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


_NUMBER = r"[0-9〇一二三四五六七八九十百]+"
_LEVELS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(rf"^第{_NUMBER}(?:編|部)(?:\s|$|[^のにはをが])"), 1),
    (re.compile(rf"^第{_NUMBER}章(?:\s|$|[^のにはをが])"), 2),
    (re.compile(rf"^第{_NUMBER}節(?:\s|$|[^のにはをが])"), 3),
    (re.compile(rf"^第{_NUMBER}条(?:の{_NUMBER})?\s*(?:[((].*|$)"), 4),
    (re.compile(r"^【[^】]+】$|^≪[^≫]+≫$|^〈[^〉]+〉$|^<[^>]+>$|^\[[^\]]+\]$"), 3),
    (re.compile(r"^[■◆□◇●▼▽★☆]\s*\S"), 3),
    (re.compile(r"^[0-9]+\.[0-9]+\.[0-9]+\.?\s+\S"), 5),
    (re.compile(r"^[0-9]+\.[0-9]+\.?\s+\S"), 4),
    (re.compile(r"^[0-9]+\.\s*\S"), 3),
    (re.compile(r"^Q[0-9]*[.:：．)]\s*\S"), 5),
)
#: A line that says something ends like this or is longer than a heading.
_SENTENCE = re.compile(
    r"[。、,;；]$|(?:です|ます|ません|でした|ました|ください|すること|である)。?$"
)
_LONGEST = 40


def outline_level(line: str) -> int | None:
    """1 (outermost) to 5 for a line that is a heading; None for any other.

    >>> outline_level("第３条（年次有給休暇）"), outline_level("第3条の規定により、支給する。")
    (4, None)
    """
    folded = unicodedata.normalize("NFKC", line).strip()
    if len(folded) > _LONGEST or _SENTENCE.search(folded):
        return None
    return next((level for pattern, level in _LEVELS if pattern.search(folded)), None)
