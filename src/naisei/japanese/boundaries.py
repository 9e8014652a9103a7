"""Whether a span of a line is made of whole words: 「かな」 in 「どうかな」, not in 「さかな」."""

from __future__ import annotations

import re

from naisei.japanese.morph import Token, tokens

__all__ = ["REACH", "around", "stands_alone"]

#: How many characters on each side are looked at: enough for the words, and constant.
REACH = 12
_BEFORE = re.compile(r"[\u3041-\u30ff\u3400-\u9fffA-Za-z0-9]*\Z")
_AFTER = re.compile(r"[\u3041-\u30ff\u3400-\u9fffA-Za-z0-9]*")


def around(text: str, start: int, end: int) -> tuple[tuple[Token, ...], int, int]:
    """Words around a span, and where the span lies among their characters.

    Of the unbroken writing at most `REACH` characters each side are read. () if the window
    cannot be read as written.
    """
    before = _BEFORE.search(text[max(0, start - REACH) : start])
    after = _AFTER.match(text[end : end + REACH])
    left, right = before[0] if before else "", after[0] if after else ""
    window = left + text[start:end] + right
    found = tokens(window) if window.isprintable() else ()
    if "".join(t.surface for t in found) != window:
        return (), 0, 0
    return found, len(left), len(left) + end - start


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word begins at `start` and a word ends at `end`. In doubt, yes."""
    found, first, last = around(text, start, end)
    if not found:
        return True
    begins = ends = False
    at = 0
    for token in found:
        begins = begins or at == first
        at += len(token.surface)
        ends = ends or at == last
    return begins and ends
