"""What every reader of a format puts together: headings on the way down, paragraphs, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from naisei.retrieval.types import Passage

__all__ = ["Blocks", "Read", "TooLong", "one_line", "row"]

#: What a passage counts besides its letters: a million of one letter are no small document.
_PASSAGE = 10
#: A table's first row that is longer is not repeated with every other.
_HEADER = 400
_SPACE = re.compile(r"[ \t\u3000\xa0]*\n[ \t\u3000\xa0]*|[ \t\u3000\xa0]+")


class TooLong(ValueError):
    """More text than is read of one document."""


@dataclass(slots=True)
class Read:
    """What a reader found: a title of the document's own, if it has one; front matter; text."""

    passages: list[Passage]
    title: str = ""
    meta: dict[str, JsonValue] = field(default_factory=dict)


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
