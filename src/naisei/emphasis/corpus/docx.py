"""Word documents: which characters of their paragraphs are bold, directly or by style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

from naisei.core import InputError
from naisei.emphasis.corpus.documents import BlockBuilder, ParsedText
from naisei.emphasis.corpus.markdown import first_heading
from naisei.retrieval.loaders.docx import (
    broken,
    elements,
    heading_level,
    heading_styles,
    open_docx,
)
from naisei.retrieval.loaders.docx_runs import SKIPPED, hidden, is_on
from naisei.retrieval.types import Unreadable

_CODE = re.compile(r"code|コード|ソース|preformatted|macro", re.I)
_FIXED = (qn("w:hyperlink"), qn("w:fldSimple"), qn("w:smartTag"))
_R, _T = qn("w:r"), qn("w:t")
_SPACES = frozenset(qn(tag) for tag in ("w:tab", "w:br", "w:cr"))
_MOST_INFLATED = 200_000_000


def read_docx(data: bytes, *, place: str = "") -> ParsedText:
    """Read a docx. Source offsets are 0, since a docx is an archive. Tables are left out.

    Raises:
        InputError: not a docx, broken, protected, or more than 200 MB unpacked.
    """
    try:
        return _read(open_docx(place, data, inflated=_MOST_INFLATED))
    except Unreadable as error:
        raise InputError(error.why, place=place) from error
    # For a damaged package python-docx raises errors of zipfile, lxml and its own, KeyError …
    except Exception as error:
        raise InputError(broken(place, error).why, place=place) from error


def _read(document: Any) -> ParsedText:
    builder, headings, title = BlockBuilder(), [], ""
    styles = {style.style_id: style for style in document.styles}
    levels = heading_styles(document)
    for kind, paragraph in elements(document.element.body):
        if kind == "table":
            continue
        level, style = heading_level(paragraph, levels), styles.get(paragraph.style)
        if level is not None:
            text = "".join(c for c, _, _ in _characters(paragraph, styles, False)).strip()
            title = title or (text if not level else "")
            if level and text:
                headings.append((level, text))
        elif style is None or not _CODE.search(style.name or ""):
            for character, bold, fixed in _characters(paragraph, styles, _bold_style(style)):
                builder.add(character, 0, 0, bold, fixed)
            builder.close()
    core = (document.core_properties.title or "").strip()
    known = "" if core == "Word Document" else core
    return ParsedText(title or first_heading(headings) or known, builder.finished())


def _characters(
    element: Any, styles: Any, bold: bool, fixed: bool = False
) -> Iterator[tuple[str, bool, bool]]:
    """Yields (character, bold, fixed)."""
    for child in element.iterchildren():
        if child.tag in SKIPPED or not isinstance(child.tag, str):
            continue
        if child.tag != _R:
            yield from _characters(child, styles, bold, fixed or child.tag in _FIXED)
        elif not hidden(child.rPr):
            yield from _run(child, styles, bold, fixed)


def _run(run: Any, styles: Any, bold: bool, fixed: bool) -> Iterator[Any]:
    properties = run.rPr
    if properties is not None:
        named = properties.find(qn("w:rStyle"))
        style = styles.get(named.get(qn("w:val"))) if named is not None else None
        if style is not None:
            bold = bold or _bold_style(style)
            fixed = fixed or bool(_CODE.search(style.name or ""))
        if (own := properties.find(qn("w:b"))) is not None:
            bold = is_on(own)
    for part in run.iterchildren():
        if part.tag == _T:
            for character in part.text or "":
                yield character, bold, fixed
        elif part.tag in _SPACES:
            yield "\n", bold, fixed


def _bold_style(style: Any) -> bool:
    steps = 0
    while style is not None and steps < 10:
        if style.font.bold is not None:
            return bool(style.font.bold)
        style, steps = style.base_style, steps + 1
    return False
