"""Documents of any of the formats, and articles made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from docx.oxml.ns import qn

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Block, BlockBuilder, Heading, ParsedText, Source
from naisei.emphasis.corpus.html import read_html
from naisei.emphasis.corpus.markdown import first_heading, read_markdown
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese.morph import Word, words
from naisei.japanese.sentences import sentence_spans
from naisei.lang import say
from naisei.retrieval.loaders.blocks import SUFFIXES as READABLE
from naisei.retrieval.loaders.blocks import read_bytes as bytes_of
from naisei.retrieval.loaders.docx import (
    SKIPPED,
    broken,
    elements,
    heading_level,
    heading_styles,
    hidden,
    open_docx,
    shaded,
)
from naisei.retrieval.types import Unreadable

__all__ = [
    "EXPORT",
    "SUFFIXES",
    "Document",
    "Format",
    "article_of",
    "read_all",
    "read_bytes",
    "read_document",
]


Format = Literal["markdown", "html", "docx"]
#: Plain text is read as Markdown: so is what people write in it.
_FORMATS: dict[str, Format] = {
    "md": "markdown",
    "txt": "markdown",
    "html": "html",
    "docx": "docx",
}
SUFFIXES: dict[str, Format] = {
    suffix: _FORMATS[kind] for suffix, kind in READABLE.items() if kind in _FORMATS
}
#: Of the export of a blog, which holds many documents.
EXPORT = ".xml"
_MOST = 50_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """source: None for a docx, in which nothing has a place."""

    name: str
    format: Format
    parsed: ParsedText
    source: Source | None


def read_document(path: Path) -> Document:
    """Raises:
    InputError: no such file or format, larger than 50 MB, no text, broken.
    """
    if path.is_dir():
        raise InputError(say("フォルダーです", "this is a folder"), place=str(path))
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            say(
                f"'{path.suffix}' は対応していない形式です",
                f"'{path.suffix}' is no format that is read here",
            ),
            place=str(path),
            remedy=say("使える形式: ", "known: ") + ", ".join(SUFFIXES),
        )
    try:
        data = bytes_of(path, str(path), _MOST)
    except Unreadable as error:
        raise InputError(
            say("文書を読めません: ", "the document cannot be read: ") + error.why, place=str(path)
        ) from error
    return read_bytes(data, kind, name=str(path))


def read_all(path: Path) -> list[ParsedText]:
    """The document, or every published post of a blog's export (WordPress's WXR, which note and
    others write too).

    Raises:
        InputError: as `read_document`, or no such export.
    """
    if path.suffix.lower() != EXPORT:
        return [read_document(path).parsed]
    try:
        data = bytes_of(path, str(path), _MOST)
        posts = list(ElementTree.fromstring(data).iter("item"))
    except (Unreadable, ElementTree.ParseError) as error:
        raise InputError(
            say("ブログの書き出し (WXR) として読めません", "this is no export of a blog (WXR)"),
            place=str(path),
        ) from error
    return [_post(post) for post in posts if _of_post(post, "status") in ("publish", "")]


def _post(post: ElementTree.Element) -> ParsedText:
    return replace(
        read_html(_of_post(post, "encoded")),
        title=_of_post(post, "title"),
        writer=_of_post(post, "creator"),
        domain=_of_post(post, "category"),
    )


def _of_post(post: ElementTree.Element, name: str) -> str:
    """Of an element by its name in whatever namespace: that changes with WXR's version. What a
    post is precedes its excerpt, which is called the same."""
    found = (e for e in post if e.tag.rpartition("}")[2] == name)
    return next((e.text.strip() for e in found if e.text), "")


def read_bytes(data: bytes, kind: Format, *, name: str = "") -> Document:
    """name: for messages. Raises `InputError`: no text, or broken."""
    if kind == "docx":
        return Document(name, kind, read_docx(data, place=name), None)
    source = Source.of(data, place=name)
    parsed = read_markdown(source.text) if kind == "markdown" else read_html(source.text)
    return Document(name, kind, parsed, source)


def article_of(name: str, parsed: ParsedText) -> Article:
    """The article of a parsed. A word at least half of which is emphasised is emphasised;
    one of which any character cannot be, cannot be."""
    sentences: list[Sentence] = []
    for number, block in enumerate(parsed.blocks):
        at = 0
        for text in sentence_spans(block.text):
            found = tuple(_token(word, at, block) for word in words(text))
            if found:
                sentences.append(Sentence(text.strip(), found, number, len(sentences)))
            at += len(text)
    return Article(name, parsed.title, tuple(sentences), parsed.writer, parsed.domain)


def _token(word: Word, base: int, block: Block) -> Token:
    start, end = base + word.start, base + word.end
    label = None if any(block.fixed[start:end]) else 2 * sum(block.bold[start:end]) >= end - start
    return Token(word.surface, start, end, word.pos, word.lemma, label)


# Word documents: which characters of their paragraphs are bold, set so or by their style.

_CODE = re.compile(r"code|コード|ソース|preformatted|macro", re.I)
_FIXED = (qn("w:hyperlink"), qn("w:fldSimple"), qn("w:smartTag"))
_R, _T = qn("w:r"), qn("w:t")
_SPACES = frozenset(qn(tag) for tag in ("w:tab", "w:br", "w:cr"))
_MOST_INFLATED = 200_000_000
_OFF = ("0", "false", "off")


def read_docx(data: bytes, *, place: str = "") -> ParsedText:
    """Places in the source are 0: a docx is an archive. Tables are left out.

    Raises:
        InputError: no docx, broken, protected, or more than 200 MB unpacked.
    """
    try:
        return _read(open_docx(place, data, inflated=_MOST_INFLATED))
    except Unreadable as error:
        raise InputError(error.why, place=place) from error
    # python-docx meets a damaged package with errors of zipfile, lxml and its own, KeyError …
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
                headings.append(Heading(min(6, level), text, len(builder.blocks)))
        elif style is None or not _CODE.search(style.name or ""):
            for character, bold, fixed in _characters(paragraph, styles, _bold_style(style)):
                builder.add(character, 0, 0, bold, fixed)
            builder.close()
    core = (document.core_properties.title or "").strip()
    known = "" if core == "Word Document" else core
    return ParsedText(
        title or first_heading(headings) or known, tuple(builder.blocks), tuple(headings)
    )


def _characters(paragraph: Any, styles: Any, bold: bool) -> Iterator[tuple[str, bool, bool]]:
    """Character, bold, fixed."""
    yield from _within(paragraph, styles, bold, False, shaded(paragraph.pPr))


def _within(element: Any, styles: Any, bold: bool, fixed: bool, dark: bool) -> Iterator[Any]:
    for child in element.iterchildren():
        if child.tag in SKIPPED or not isinstance(child.tag, str):
            continue
        if child.tag != _R:
            yield from _within(child, styles, bold, fixed or child.tag in _FIXED, dark)
        elif not hidden(child.rPr, dark):
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
