"""Documents of any of the formats, and articles made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Block, Reading, Source
from naisei.emphasis.corpus.docx import read_docx
from naisei.emphasis.corpus.html import read_html
from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese.morph import Word, words
from naisei.japanese.sentences import sentence_spans
from naisei.lang import say

__all__ = ["SUFFIXES", "Document", "Format", "article_of", "read_bytes", "read_document"]


Format = Literal["markdown", "html", "docx"]
#: Plain text is read as Markdown: so is what people write in it.
SUFFIXES: dict[str, Format] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".qmd": "markdown",
    ".txt": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".docx": "docx",
}
_MOST = 50_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """source: None for a docx, in which nothing has a place."""

    name: str
    format: Format
    reading: Reading
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
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        raise InputError(
            say("文書を読めません: ", "the document cannot be read: ") + (error.strerror or ""),
            place=str(path),
        ) from error
    if len(data) > _MOST:
        raise InputError(
            say("50 MB を超えています", "larger than 50 MB"), place=str(path)
        )  # fmt: skip
    return read_bytes(data, kind, name=str(path))


def read_bytes(data: bytes, kind: Format, *, name: str = "") -> Document:
    """name: for messages. Raises `InputError`: no text, or broken."""
    if kind == "docx":
        return Document(name, kind, read_docx(data, place=name), None)
    source = Source.of(data, place=name)
    reading = read_markdown(source.text) if kind == "markdown" else read_html(source.text)
    return Document(name, kind, reading, source)


def article_of(name: str, reading: Reading) -> Article:
    """The article of a reading. A word at least half of which is emphasised is emphasised;
    one of which any character cannot be, cannot be."""
    sentences: list[Sentence] = []
    for number, block in enumerate(reading.blocks):
        at = 0
        for text in sentence_spans(block.text):
            found = tuple(_token(word, at, block) for word in words(text))
            if found:
                sentences.append(Sentence(text.strip(), found, number, len(sentences)))
            at += len(text)
    return Article(name, reading.title, tuple(sentences))


def _token(word: Word, base: int, block: Block) -> Token:
    start, end = base + word.start, base + word.end
    label = None if any(block.fixed[start:end]) else 2 * sum(block.bold[start:end]) >= end - start
    return Token(word.surface, start, end, word.pos, word.lemma, label)
