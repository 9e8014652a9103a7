"""What Word shows of a paragraph: text that is not hidden directly or by style, and the number
before it in a list (第1条, (2), ア, ①).
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from docx.oxml.ns import qn

PROPERTIES, OUTLINE, PSTYLE = qn("w:pPr"), qn("w:outlineLvl"), qn("w:pStyle")
STYLE, STYLE_ID, NAME = qn("w:style"), qn("w:styleId"), qn("w:name")
BASED_ON, VALUE = qn("w:basedOn"), qn("w:val")
RUN, RUN_PROPERTIES = qn("w:r"), qn("w:rPr")
#: Tracked deletions, moved text, field codes, the older copy of a drawing.
SKIPPED = frozenset(
    {qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:pPr", "w:rPr")}
    | {qn("w:rt")}  # the reading of a word, not the word
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
#: Elements with text.
_SIGNS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:noBreakHyphen"): "-",
}
_P, _T = qn("w:p"), qn("w:t")
#: Properties of hidden and struck-out text.
_UNSEEN = frozenset(map(qn, ("w:vanish", "w:webHidden", "w:strike", "w:dstrike")))
_RUN_STYLE, _SIZE = qn("w:rStyle"), qn("w:sz")

#: Ids of hidden styles.
Styles = frozenset[str]


def shown_text(paragraph: Any, styles: Styles = frozenset()) -> str:
    """The text of its runs, line breaks as `\\n`, without deleted or hidden text. styles: from
    `unseen_styles`."""
    found: list[str] = []
    own = paragraph.find(f"{PROPERTIES}/{PSTYLE}")
    outer = own is not None and own.get(VALUE, "") in styles
    _collect(paragraph, found, styles, outer)
    return "".join(found)


def _collect(element: Any, found: list[str], styles: Styles, outer: bool) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in SKIPPED or not isinstance(tag, str):
            continue
        if tag == RUN and hidden(child.find(RUN_PROPERTIES), styles, outer):
            continue
        if tag == _T:
            found.append(child.text or "")
        elif tag in _SIGNS:
            found.append(_SIGNS[tag])
        else:
            _collect(child, found, styles, outer)
            if tag == _P:
                found.append("\n")


def hidden(properties: Any, styles: Styles = frozenset(), outer: bool = False) -> bool:
    """Whether a run with these properties (or None) is hidden. outer: whether its paragraph's style
    hides it."""
    said = None
    if properties is not None:
        style = properties.find(_RUN_STYLE)
        outer |= style is not None and style.get(VALUE, "") in styles
        said = _said(properties)
    return outer if said is None else said


def _said(properties: Any) -> bool | None:
    """Whether these properties hide text, sizes below one point included; `None` if unset."""
    switches = [is_on(child) for child in properties.iterchildren() if child.tag in _UNSEEN]
    size = properties.find(_SIZE)
    tiny = size is not None and size.get(VALUE, "") in ("0", "1")
    return any(switches) or tiny if switches or tiny else None


def unseen_styles(document: Any) -> Styles:
    """Styles that hide text, directly or by inheritance."""
    sheet = document.part._styles_part.element
    styles = {style.get(STYLE_ID, ""): style for style in sheet.iterchildren(STYLE)}

    def hides(style: Any, depth: int = 0) -> bool:
        properties, parent = style.find(RUN_PROPERTIES), style.find(BASED_ON)
        said = None if properties is None else _said(properties)
        above = styles.get(parent.get(VALUE, "")) if parent is not None and depth < 10 else None
        return said if said is not None else above is not None and hides(above, depth + 1)

    return frozenset(number for number, style in styles.items() if hides(style))


def is_on(switch: Any) -> bool:
    return switch is not None and switch.get(VALUE, "1").lower() not in ("0", "false", "off")


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
    """Numbers a document's list paragraphs, in order."""

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
    """Format a list number: ECMA-376 part 1, 17.18.59."""
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
