"""Shared parts of document readers: formats, file access, collected content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from naisei.japanese.sentences import outline_level
from naisei.lang import say
from naisei.retrieval.loaders.tables import Cell, is_label, table_lines
from naisei.retrieval.types import Format, Hidden, Passage, Unreadable

#: Format by file extension.
SUFFIXES: dict[str, Format] = {
    ".md": "md",
    ".markdown": "md",
    ".mdx": "md",
    ".qmd": "md",
    ".txt": "txt",
    ".text": "txt",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".odt": "odt",
    ".ods": "odt",
    ".rst": "rst",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".csv": "csv",
    ".tsv": "csv",
    ".pptx": "pptx",
    ".eml": "eml",
}
#: HTML elements that begin and end a paragraph.
BLOCK_ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body caption center dd details div dl dt fieldset
        figcaption figure footer form header hr html legend li main ol p pre section summary
        table td th tr ul""",
    )
)

#: Size counted per passage in addition to its text.
_PASSAGE = 10
_SPACE = re.compile(r"[ \t\u3000\xa0]*\n[ \t\u3000\xa0]*|[ \t\u3000\xa0]+")


_NUMBER = r"第[0-9０-９一二三四五六七八九十百]+条(?:の[0-9０-９一二三四五六七八九十]+)?"
_NUMBERED = re.compile(_NUMBER)
_CAPTION = re.compile(r"[（(][^（）()。]{1,40}[）)]")
_ARTICLE = re.compile(
    rf"(?P<number>{_NUMBER})(?:[ \u3000\t]*(?P<caption>{_CAPTION.pattern})|[ \u3000\t]+(?=\S))"
)
#: Signs that a numbered line is a heading, not a sentence.
_HEADED = re.compile(r"(?!削除)[^。、，．：]{1,30}(?<![るいすた])")
_CHAPTER = re.compile(r"第[0-9０-９一二三四五六七八九十]+[編部章節]|附[ \u3000]*則$")
#: A heading that divides rules but does not name them.
_PART = re.compile(f"{_NUMBER}|{_CHAPTER.pattern}")
#: Heading levels: marked headings come first, then chapters typed as text, bold paragraphs,
#: articles.
_TYPED, BOLD, _ARTICLE_LEVEL, CLAUSE = 10, 18, 20, 30


class TooIntricate(ValueError):
    """The page is nested too deeply or has too many styles."""


class TooLong(ValueError):
    """The document has too much text."""


def read_bytes(path: Path, name: str, most: int) -> bytes:
    """The file's bytes, at most `most`. name: for messages. Raises `Unreadable`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from error
    if len(data) > most:
        raise Unreadable(name, say(f"{most:,} バイトを超えています", f"larger than {most:,} bytes"))
    return data


@dataclass(slots=True)
class Read:
    """A reader's result: title if any, front matter, text, omitted parts."""

    passages: list[Passage]
    title: str = ""
    meta: dict[str, JsonValue] = field(default_factory=dict)
    hidden: list[Hidden] = field(default_factory=list)


#: Limits on reported hidden passages: number, and characters per passage.
_TOLD, _BEGINNING = 100, 200


def leave_out(hidden: list[Hidden], how: str, text: str) -> None:
    """Record a hidden passage. how: the means, such as `display: none`."""
    if len(hidden) < _TOLD and (said := one_line(text[: 2 * _BEGINNING])):
        hidden.append(Hidden(how=how, text=said[:_BEGINNING]))


def one_line(text: str) -> str:
    """Collapse white space to single spaces; strip the ends."""
    return _SPACE.sub(" ", text).strip()


class Blocks:
    """Collects passages under the open headings."""

    def __init__(self, most: int) -> None:
        """most: characters; raises `TooLong` beyond this."""
        self._left = most
        self.passages: list[Passage] = []
        self.page: int | None = None
        self._open: list[tuple[int, str]] = []
        self.first = ""

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)

    def heading(self, level: int, text: str) -> None:
        """Open a heading; close others at or below `level` (≥ 1)."""
        text = one_line(text)
        if not text:
            return
        self.close(level)
        self._open.append((level, text))
        self.first = self.first or (self._opening() if _PART.match(text) else text)

    def _opening(self) -> str:
        """The name of the rules: the line before the first article, else empty."""
        line = self.passages[0].text.split("\n")[0] if self.passages else ""
        return line if is_label(line) else ""

    def close(self, level: int) -> None:
        """Close the headings at this level and below."""
        self._open = [(at, name) for at, name in self._open if at < level]

    def text(self, text: str) -> None:
        """Add a paragraph or list with its line breaks. An article of rules, 第3条 with a caption
        above or beside it, opens a heading."""
        held: list[str] = []

        def flush() -> None:
            if said := "\n".join(held).strip():
                self._add(Passage(text=said, headings=self.headings, page=self.page))
            held.clear()

        for line in text.strip().split("\n"):
            if found := _ARTICLE.match(line.strip()):
                above = held.pop() if held and _CAPTION.fullmatch(held[-1].strip()) else ""
                flush()
                above = above or self._caption_above()
                rest = line.strip()[found.end() :]
                alone = not above and _HEADED.fullmatch(rest) is not None
                caption = one_line(above) or found["caption"] or ""
                if alone and not found["caption"]:
                    self.heading(self._article_level(), line)
                    continue
                level = self._article_level()
                if caption or level < _ARTICLE_LEVEL or self._open[-1:] != self._outside(level):
                    self.heading(level, found["number"] + caption)
            held.append(line)
        flush()

    def typed(self, text: str) -> bool:
        """Open a chapter heading typed as text; returns whether it was one."""
        level = outline_level(text) if _CHAPTER.match(text.strip()) else None
        if level is not None:
            self.heading(_TYPED + level, text)
        return level is not None

    def _caption_above(self) -> str:
        """Remove and return a caption alone just above, if any."""
        last = self.passages[-1] if self.passages else None
        if last is None or last.kind == "row" or not _CAPTION.fullmatch(last.text):
            return ""
        return self.passages.pop().text

    def _article_level(self) -> int:
        return next((at for at, name in self._open if _NUMBERED.match(name)), _ARTICLE_LEVEL)

    def _outside(self, level: int) -> list[tuple[int, str]]:
        return [pair for pair in self._open if pair[0] < level][-1:]

    def table(
        self, table: Sequence[Sequence[Cell]], *, item: str = "", header: str | None = None
    ) -> str:
        """Add a table by `table_lines`. Returns its header, for a continued table."""
        for line in table_lines(table, item=item, header=header):
            kind: Literal["text", "row"] = "row" if line.header else "text"
            self._add(
                Passage(
                    text=line.text,
                    headings=self.headings,
                    page=self.page,
                    kind=kind,
                    header=line.header,
                )
            )
            header = line.header or header
        return header or ""

    def _add(self, passage: Passage) -> None:
        self._left -= len(passage.text) + _PASSAGE
        if self._left < 0:
            raise TooLong
        self.passages.append(passage)
