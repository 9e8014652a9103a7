"""What the readers of documents share: formats, a file's bytes, and what a reader puts together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from naisei.lang import say
from naisei.retrieval.types import Format, Hidden, Passage, Unreadable

#: What a file's name says of its format.
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

#: What a passage counts besides its letters: a million of one letter are no small document.
_PASSAGE = 10
#: A table's first row that is longer is not repeated with every other.
_HEADER = 400
_SPACE = re.compile(r"[ \t\u3000\xa0]*\n[ \t\u3000\xa0]*|[ \t\u3000\xa0]+")


class TooLong(ValueError):
    """More text than is read of one document."""


def read_bytes(path: Path, name: str, most: int) -> bytes:
    """The file's bytes, `most` of them at most. name: for messages. Raises `Unreadable`."""
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
    """What a reader found: a title of the document's own, if it has one; front matter; text;
    what it left out."""

    passages: list[Passage]
    title: str = ""
    meta: dict[str, JsonValue] = field(default_factory=dict)
    hidden: list[Hidden] = field(default_factory=list)


#: Of one document's hidden passages: how many are told of, and the beginning of each.
_TOLD, _BEGINNING = 100, 200


def leave_out(hidden: list[Hidden], how: str, text: str) -> None:
    """Note a passage that nobody sees. how: the means, such as `display: none`."""
    if len(hidden) < _TOLD and (said := one_line(text[: 2 * _BEGINNING])):
        hidden.append(Hidden(how=how, text=said[:_BEGINNING]))


def one_line(text: str) -> str:
    """Runs of white space as one space, none at the ends."""
    return _SPACE.sub(" ", text).strip()


def row(cells: Sequence[str]) -> str:
    """A table row as text: `| 区分 | 日数 |`."""
    return "| " + " | ".join([one_line(cell).replace("|", "｜") for cell in cells]) + " |"


class Blocks:
    """Collects passages under the headings that are open."""

    def __init__(self, most: int) -> None:
        """most: characters; raises `TooLong` when there are more."""
        self._left = most
        self.passages: list[Passage] = []
        self.page: int | None = None
        self._open: list[tuple[int, str]] = []
        self.first = ""

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)

    def heading(self, level: int, text: str) -> None:
        """Closes those of this level and below. level: from 1."""
        text = one_line(text)
        if not text:
            return
        self._open = [(at, name) for at, name in self._open if at < level]
        self._open.append((level, text))
        self.first = self.first or text

    def text(self, text: str) -> None:
        """A paragraph or a list; its line breaks are kept."""
        if text := text.strip():
            self._add(Passage(text=text, headings=self.headings, page=self.page))

    def table(self, rows: Sequence[Sequence[str]], *, header: bool = True) -> None:
        """A table; its first row is the header unless there is none."""
        filled = [cells for cells in rows if any(cell.strip() for cell in cells)]
        if not filled:
            return
        head = row(filled[0]) if header and len(filled) > 1 else ""
        head = head if len(head) <= _HEADER else ""
        for cells in filled[1:] if head else filled:
            self._add(
                Passage(
                    text=row(cells), headings=self.headings, page=self.page, kind="row", header=head
                )
            )

    def _add(self, passage: Passage) -> None:
        self._left -= len(passage.text) + _PASSAGE
        if self._left < 0:
            raise TooLong
        self.passages.append(passage)
