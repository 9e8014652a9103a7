"""Word documents: which characters of their paragraphs are bold, set so or by their style."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import docx
from docx.oxml.ns import qn

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Heading, Reading, Writer
from naisei.lang import say

__all__ = ["read_docx"]

_HEADING = re.compile(r"(?:heading|見出し)\s*([1-9])", re.I)
_TITLE = re.compile(r"title|表題", re.I)
_CODE = re.compile(r"code|コード|ソース|preformatted|macro", re.I)
_FIXED = (qn("w:hyperlink"), qn("w:fldSimple"), qn("w:smartTag"))
_SKIPPED = frozenset(qn(tag) for tag in ("w:del", "w:moveFrom", "w:pPr", "w:rPr"))
_P, _R, _T = qn("w:p"), qn("w:r"), qn("w:t")
_SPACES = frozenset(qn(tag) for tag in ("w:tab", "w:br", "w:cr"))
_SDT, _CONTENT = qn("w:sdt"), qn("w:sdtContent")
_MOST_INFLATED = 200_000_000
_OFF = ("0", "false", "off")


def read_docx(data: bytes, *, place: str = "") -> Reading:
    """Places in the source are 0: a docx is an archive. Tables are left out.

    Raises:
        InputError: no docx, broken, protected, or more than 200 MB unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MOST_INFLATED:
                raise ValueError("too large")
        document = docx.Document(io.BytesIO(data))
        return _read(document)
    # python-docx meets a damaged package with errors of zipfile, lxml and its own, KeyError …
    except Exception as error:
        raise InputError(
            say("Word 文書 (.docx) として読めません", "this cannot be read as a Word document")
            + f" ({type(error).__name__})",
            place=place,
        ) from error


def _read(document: Any) -> Reading:
    writer, headings, title = Writer(), [], ""
    styles = {style.style_id: style for style in document.styles}
    for paragraph in _paragraphs(document.element.body):
        style = styles.get(paragraph.style)
        name = (style.name or "") if style is not None else ""
        heading = _HEADING.match(name)
        if heading or _TITLE.fullmatch(name):
            text = "".join(c for c, _, _ in _characters(paragraph, styles, False)).strip()
            title = title or (text if not heading else "")
            if heading and text:
                headings.append(Heading(min(6, int(heading[1])), text, len(writer.blocks)))
        elif not _CODE.search(name):
            for character, bold, fixed in _characters(paragraph, styles, _bold_style(style)):
                writer.add(character, 0, 0, bold, fixed)
            writer.close()
    core = (document.core_properties.title or "").strip()
    first = next((h.text for h in headings if h.level == 1), headings[0].text if headings else "")
    known = "" if core == "Word Document" else core
    return Reading(title or first or known, tuple(writer.blocks), tuple(headings))


def _paragraphs(parent: Any) -> Iterator[Any]:
    for element in parent.iterchildren():
        if element.tag == _P:
            yield element
        elif element.tag == _SDT and (content := element.find(_CONTENT)) is not None:
            yield from _paragraphs(content)


def _characters(element: Any, styles: Any, bold: bool, fixed: bool = False) -> Iterator[Any]:
    """Character, bold, fixed."""
    for child in element.iterchildren():
        if child.tag in _SKIPPED or not isinstance(child.tag, str):
            continue
        if child.tag == _R:
            yield from _run(child, styles, bold, fixed)
        else:
            yield from _characters(child, styles, bold, fixed or child.tag in _FIXED)


def _run(run: Any, styles: Any, bold: bool, fixed: bool) -> Iterator[Any]:
    properties = run.rPr
    if properties is not None:
        if (hidden := properties.find(qn("w:vanish"))) is not None and _on(hidden):
            return
        named = properties.find(qn("w:rStyle"))
        style = styles.get(named.get(qn("w:val"))) if named is not None else None
        if style is not None:
            bold = bold or _bold_style(style)
            fixed = fixed or bool(_CODE.search(style.name or ""))
        if (own := properties.find(qn("w:b"))) is not None:
            bold = _on(own)
    for part in run.iterchildren():
        if part.tag == _T:
            for character in part.text or "":
                yield character, bold, fixed
        elif part.tag in _SPACES:
            yield "\n", bold, fixed


def _on(switch: Any) -> bool:
    return str(switch.get(qn("w:val"), "1")).lower() not in _OFF


def _bold_style(style: Any) -> bool:
    steps = 0
    while style is not None and steps < 10:
        if style.font.bold is not None:
            return bool(style.font.bold)
        style, steps = style.base_style, steps + 1
    return False
