"""Autofix: safe corrections of how a line is written, never of what it says.

Source: the retry-judgement specification, §§1 (MODIFY), 2, 8.
"""

from __future__ import annotations

import re

from naisei.japanese.folding import fold, mend_marks, wrapped

_BLANK_ROWS = re.compile(r"\A(?:[^\S\r\n]*(?:\r\n?|\n))+")
#: So many wrappers inside each other are taken off.
_DEPTH = 2
#: A line without any of these needs no mend.
_MENDABLE = re.compile("[!！﹗][!！﹗]|[?？﹖][?？﹖]|[。｡][。｡]|[、､][、､]|[｡､]")


def autofix(text: str) -> tuple[tuple[str, ...], str]:
    """The mends that change the line, of `naisei.director.verdict.MEND_NAMES`, and the result.

    `blank-lines`: blank rows at both ends go. `wrapper`: a 「…」 round the whole line goes.
    `marks`: runs of ！, ？, 。 and 、 become one, half-width ｡ and ､ full. A line without
    words is left alone. A quotation in a wrapped quotation may be a
    quotation: two wrappers are taken off, not more.

    >>> autofix("「えー！！」\\n")
    (('blank-lines', 'wrapper', 'marks'), 'えー！')
    """
    edges = text[:1].isspace() or text[-1:].isspace()
    wrapped = "「" in text or "『" in text or "｢" in text
    if not edges and not wrapped and _MENDABLE.search(text) is None:
        return (), text
    if not text.strip():
        return (), text
    mends = []
    trimmed = _trimmed(text)
    if trimmed != text:
        mends.append("blank-lines")
    bare = _unwrapped(trimmed) if wrapped else trimmed
    if bare != trimmed:
        mends.append("wrapper")
    marked = mend_marks(bare)
    if marked != bare:
        mends.append("marks")
    return tuple(mends), marked


def _trimmed(text: str) -> str:
    """Without blank rows at the ends; spaces in a row that has words stay."""
    text = _BLANK_ROWS.sub("", text)
    kept = text.rstrip()
    rest = text[len(kept) :]
    cut = re.search(r"[\r\n]", rest)
    return kept + (rest[: cut.start()] if cut else rest)


def _unwrapped(text: str) -> str:
    for _ in range(_DEPTH):
        inner = text.strip()
        if len(inner) < 3 or inner[0] not in "「『｢" or not inner[1:-1].strip():
            break
        if not wrapped(fold(inner)):
            break
        text = _trimmed(inner[1:-1])
    return text
