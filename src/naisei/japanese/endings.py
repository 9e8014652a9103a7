"""Polite endings at a sentence's end: 「です」 and 「ます」, not 「だます」."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["ending_pattern"]

#: A polite verb form follows a stem in -i or -e; 「だます」 and 「励ます」 are plain verbs.
_NO_STEM = "あかさたなはまやらわがざだばうくすつぬふむゆるぐずづぶ励覚冷醒済澄騙悩眩黙"


def ending_pattern(endings: Iterable[str], particles: Iterable[str]) -> re.Pattern[str]:
    """Matches one of the endings at the end of a sentence, final particles and marks after it."""
    listed = sorted(endings, key=len, reverse=True)
    forms = "|".join(
        (f"(?<![{_NO_STEM}])" if form.startswith("ま") else "") + re.escape(form) for form in listed
    )
    particle = "|".join(map(re.escape, particles)) or r"(?!)"
    return re.compile(
        rf"(?:{forms})(?:{particle}){{0,3}}[ぁぇー〜…♪☆★♡♥w）」\s。！？、]*(?:（[^（）]*）[\s。！？]*)?\Z"
    )
