"""Polite endings at a sentence's end: 「です」 and 「ます」, not 「だます」."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["EndingSearch"]

#: A polite verb form follows a stem in -i or -e; 「だます」 and 「励ます」 are plain verbs.
_NO_STEM = "あかさたなはまやらわがざだばうくすつぬふむゆるぐずづぶ励覚冷醒済澄騙悩眩黙"
_TRAIL = r"[ぁぇー〜…♪☆★♡♥w）」 \t、]*(?:（[^（）\n]*）[ \t]*)?(?=[。！？\n]|$)"


class EndingSearch:
    """Counts sentences of a masked line that end in one of the endings.

    Final particles and decoration may follow the ending (「ですよね〜♪」).
    """

    def __init__(self, endings: Iterable[str], particles: Iterable[str]) -> None:
        listed = sorted(endings, key=len, reverse=True)
        forms = "|".join(
            re.escape(form) + (f"(?<![{_NO_STEM}]{re.escape(form)})" if form[0] == "ま" else "")
            for form in listed
        )
        particle = "|".join(map(re.escape, particles)) or r"(?!)"
        self._pattern = re.compile(rf"(?:{forms})(?:{particle}){{0,3}}{_TRAIL}")

    def reaches(self, masked: str, count: int) -> bool:
        """Whether there are at least so many."""
        return len(self._pattern.findall(masked)) >= count
