"""Headings of plain text: lines that are written as a heading rather than as a sentence."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["outline_level"]

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
