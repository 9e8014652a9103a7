"""Quotations 「…」 and parentheses （…）: which are closed, and a line with them masked."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["FILLER", "mask", "pairs", "wrapped"]

#: What stands for each character between brackets: a mark that no rule looks for.
FILLER = "〓"
_BRACKET = re.compile("[「」（）]")
_OPENER = {"」": "「", "）": "（"}


# The same line is asked for its wrapper, its mask and its mends.
@lru_cache(maxsize=4)
def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Start of the opening, end of the closing bracket of every outermost pair, in order.

    A bracket without its partner is no bracket. Linear in the length.
    """
    stack: list[tuple[str, int]] = []
    waiting = {"「": 0, "（": 0}
    found: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(text):
        mark, at = match[0], match.start()
        if mark in waiting:
            stack.append((mark, at))
            waiting[mark] += 1
            continue
        opener = _OPENER[mark]
        if not waiting[opener]:
            continue
        while True:
            last, start = stack.pop()
            waiting[last] -= 1
            if last == opener:
                break
        while found and found[-1][0] > start:
            found.pop()
        found.append((start, at + 1))
    return tuple(found)


def wrapped(text: str) -> bool:
    """Whether one quotation 「…」 begins and ends with the text."""
    if len(text) < 2 or text[0] != "「" or text[-1] != "」":
        return False
    inner = text[1:-1]
    # Without brackets inside there is nothing to pair off.
    return _BRACKET.search(inner) is None or pairs(text) == ((0, len(text)),)


def mask(text: str) -> str:
    """The text with what stands between brackets replaced by `FILLER`, of the same length.

    >>> mask("「すごい」だね。")
    '「〓〓〓」だね。'
    """
    if "「" not in text and "（" not in text:
        return text
    parts: list[str] = []
    last = 0
    for start, end in pairs(text):
        parts += (text[last : start + 1], FILLER * (end - start - 2), text[end - 1])
        last = end
    return "".join(parts) + text[last:]
