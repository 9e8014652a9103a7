"""Quotations 「…」 and parentheses （…）: which are closed, and a line with them masked."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["FILLER", "mask", "pairs", "wrapped"]

#: What stands for each character between brackets: a mark that no rule looks for.
FILLER = "〓"
_BRACKET = re.compile("[「」（）]")
_RUN = re.compile("(「+|」+|（+|）+)")
_OPENER = {"」": "「", "）": "（"}


# The same line is asked for its wrapper, its mask and its mends.
@lru_cache(maxsize=4)
def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Start of the opening, end of the closing bracket of every outermost pair, in order.

    A bracket without its partner is no bracket. Linear in the length. Runs of one bracket
    are paired off as a whole: of 「「「…」」」 only the outermost matter.
    """
    stack: list[tuple[str, int, int]] = []
    waiting = {"「": 0, "（": 0}
    found: list[tuple[int, int]] = []
    # Cut into other text and runs by turns, in one call for all of them.
    pieces = _RUN.split(text)
    at = 0
    for other, run in zip(pieces[::2], pieces[1::2], strict=False):
        end = at + len(other)
        at = end + len(run)
        mark, count = run[0], len(run)
        if mark in waiting:
            stack.append((mark, end, count))
            waiting[mark] += count
            continue
        opener = _OPENER[mark]
        while count and waiting[opener]:
            last, start, opened = stack.pop()
            if last != opener:
                waiting[last] -= opened
                continue
            taken = opened if opened < count else count
            if taken < opened:
                stack.append((last, start, opened - taken))
                start += opened - taken
            waiting[last] -= taken
            count -= taken
            end += taken
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, end))
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
