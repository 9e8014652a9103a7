"""The numbers that Word puts before the paragraphs of a list: 第1条, (2), ア, ①."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from docx.oxml.ns import qn

_VAL, _LEVEL, _ID, _ABSTRACT = qn("w:val"), qn("w:ilvl"), qn("w:numId"), qn("w:abstractNumId")
_OF_PARAGRAPH = f"{qn('w:pPr')}/{qn('w:numPr')}"
_OF_STYLE = f"{qn('w:pPr')}/{qn('w:pStyle')}"
_KANJI = "〇一二三四五六七八九"
_KANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
)


class Numbers:
    """Counts through a document, paragraph by paragraph."""

    def __init__(self, document: Any) -> None:
        self._lists: dict[str, dict[str, Any]] = {}
        self._of_style: dict[str, Any] = {}
        self._at: dict[str, dict[int, int]] = defaultdict(dict)
        parts = document.part.rels.values()
        if not any(part.reltype.endswith("/numbering") for part in parts):
            return
        sheet = document.part.numbering_part.element
        kinds = {each.get(_ABSTRACT): each for each in sheet.iterchildren(qn("w:abstractNum"))}
        for each in sheet.iterchildren(qn("w:num")):
            kind = kinds.get(each.find(_ABSTRACT).get(_VAL))
            levels = [] if kind is None else kind.iterchildren(qn("w:lvl"))
            self._lists[each.get(_ID)] = {level.get(_LEVEL): level for level in levels}
        for style in document.part._styles_part.element.iterchildren(qn("w:style")):
            if (own := style.find(_OF_PARAGRAPH)) is not None:
                self._of_style[style.get(qn("w:styleId"))] = own

    def next(self, paragraph: Any) -> tuple[str, int]:
        """(number or bullet, nesting level from 1); ("", 0) outside lists."""
        own = paragraph.find(_OF_PARAGRAPH)
        if own is None and (style := paragraph.find(_OF_STYLE)) is not None:
            own = self._of_style.get(style.get(_VAL))
        which = None if own is None else own.find(_ID)
        if own is None or which is None or which.get(_VAL) == "0":
            return "", 0
        at = own.find(_LEVEL)
        level = 0 if at is None else int(at.get(_VAL, "0"))
        levels = self._lists.get(which.get(_VAL), {})
        counts = self._at[which.get(_VAL)]
        counts[level] = counts.get(level, _start(levels.get(str(level))) - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        mark = self._mark(levels, counts, level)
        return mark, 0 if mark.startswith("第") else level + 1

    def _mark(self, levels: dict[str, Any], counts: dict[int, int], level: int) -> str:
        how = levels.get(str(level))
        written = None if how is None else how.find(qn("w:lvlText"))
        if written is None or _format(how) in ("bullet", "none"):
            return ""

        def number(found: re.Match[str]) -> str:
            n = int(found[1]) - 1
            other = levels.get(str(n))
            return _number(counts.get(n, _start(other)), _format(other))

        text = re.sub(r"%([1-9])", number, written.get(_VAL, ""))
        return f"{text}　" if text.strip() else ""


def _start(level: Any) -> int:
    found = None if level is None else level.find(qn("w:start"))
    return 1 if found is None else int(found.get(_VAL, "1"))


def _format(level: Any) -> str:
    found = None if level is None else level.find(qn("w:numFmt"))
    return "decimal" if found is None else str(found.get(_VAL))


def _number(n: int, how: str) -> str:
    """How a list counts: ECMA-376 part 1, 17.18.59."""
    if how.startswith("aiueo") and n <= len(_KANA):
        return _KANA[n - 1]
    if how.startswith("iroha") and n <= len(_IROHA):
        return _IROHA[n - 1]
    if how == "decimalEnclosedCircle" and n <= 20:
        return chr(0x2460 + n - 1)
    if how in ("lowerLetter", "upperLetter") and n <= 26:
        return chr((97 if how == "lowerLetter" else 65) + n - 1)
    if how in ("japaneseCounting", "ideographDigital", "japaneseDigitalTenThousand") and n < 100:
        tens, ones = divmod(n, 10)
        return (
            ("" if tens < 2 else _KANJI[tens]) + ("十" if tens else "") + _KANJI[ones] * (ones > 0)
        )
    if how == "decimalFullWidth":
        return str(n).translate(str.maketrans("0123456789", "０１２３４５６７８９"))
    return str(n)
