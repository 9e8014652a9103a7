"""Reads documents of all formats, and converts them to articles."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from naisei.core import InputError
from naisei.emphasis.corpus.documents import Block, ParsedText, Source
from naisei.emphasis.corpus.markdown import Paragraph, read_paragraphs
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese import morph
from naisei.japanese.morph import Word, words
from naisei.japanese.sentences import sentence_spans
from naisei.lang import say
from naisei.retrieval.loaders.blocks import SUFFIXES as READABLE
from naisei.retrieval.loaders.blocks import read_bytes as bytes_of
from naisei.retrieval.types import Unreadable

Format = Literal["markdown", "html", "docx"]
#: Plain text is read as Markdown, since people use Markdown in it.
_FORMATS: dict[str, Format] = {
    "md": "markdown",
    "txt": "markdown",
    "html": "html",
    "docx": "docx",
}
SUFFIXES: dict[str, Format] = {
    suffix: _FORMATS[kind] for suffix, kind in READABLE.items() if kind in _FORMATS
}
_MOST = 50_000_000
#: Share of sentences that are Japanese in a Japanese article.
_JAPANESE = 0.7


@dataclass(frozen=True, slots=True)
class Document:
    """source: `None` for a docx, which has no offsets. paragraphs: for Markdown, one per block."""

    name: str
    format: Format
    parsed: ParsedText
    source: Source | None
    paragraphs: tuple[Paragraph, ...] = field(default=(), compare=False)


def read_document(path: Path) -> Document:
    """Raises:
    InputError: no such file, unknown format, larger than 50 MB, not text, or broken.
    """
    if path.is_dir():
        raise InputError(say("フォルダーです", "this is a folder"), place=str(path))
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            say(
                f"'{path.suffix}' は対応していない形式です",
                f"'{path.suffix}' is not a supported format",
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


def read_bytes(data: bytes, kind: Format, *, name: str = "") -> Document:
    """name: for messages. Raises `InputError` if the data is not text, or broken."""
    # Parsers are imported on demand: an import takes as long as tagging a page.
    if kind == "docx":
        from naisei.emphasis.corpus.docx import read_docx

        return Document(name, kind, read_docx(data, place=name), None)
    source = Source.of(data, place=name)
    if kind == "markdown":
        parsed, paragraphs = read_paragraphs(source.text)
        return Document(name, kind, parsed, source, paragraphs)
    from naisei.emphasis.corpus.html import read_html

    return Document(name, kind, read_html(source.text), source)


def article_of(name: str, parsed: ParsedText) -> Article:
    """The article of a parsed text. A word is emphasised if at least half of it is; it is fixed
    if any character is."""
    sentences: list[Sentence] = []
    for number, block in enumerate(parsed.blocks):
        at = 0
        for text in sentence_spans(block.text):
            found = tuple(_token(word, at, block) for word in words(text))
            if found:
                sentences.append(Sentence(text.strip(), found, number, len(sentences)))
            at += len(text)
    return Article(name, parsed.title, tuple(sentences), parsed.writer, parsed.domain)


def is_japanese(article: Article) -> bool:
    """Whether most of the article's sentences are Japanese."""
    found = sum(morph.is_japanese(sentence.text) for sentence in article.sentences)
    return found >= _JAPANESE * len(article.sentences)


def _token(word: Word, base: int, block: Block) -> Token:
    start, end = base + word.start, base + word.end
    label = None if any(block.fixed[start:end]) else 2 * sum(block.bold[start:end]) >= end - start
    return Token(word.surface, start, end, word.pos, word.lemma, label)
