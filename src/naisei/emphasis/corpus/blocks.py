"""A document as its readers see it: a title, and paragraphs that know their place in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Block", "Heading", "Reading", "Writer", "is_sentence"]

_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]{2}")
#: Of a paragraph in bold from end to end: with these it is a sentence, with those a caption.
_SENTENCE = re.compile(r"[。．.!?！？][」』）)]*\Z")
_CAPTION = re.compile(r"(?:図|表|例|写真|Figure|Fig\.|Table|Example)\s*[0-9０-９]", re.I)


def is_sentence(text: str) -> bool:
    """Whether a paragraph in bold from end to end is emphasis; else it is a heading or a
    caption in all but name.

    >>> is_sentence("必ず読むこと。"), is_sentence("図 3 全体"), is_sentence("使い方")
    (True, False, False)
    """
    return bool(_SENTENCE.search(text)) and not _CAPTION.match(text)


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or the like. All sequences have one entry per character of text.

    starts, ends: where the character stands in the source, in characters (`&amp;` is one
    character of the text and five of the source; both are 0 where a source has no places).
    bold: emphasised. fixed: cannot be emphasised (inline code, the text of a link).
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    bold: tuple[bool, ...]
    fixed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """level: 1 to 6. block: number of the first block below it."""

    level: int
    text: str
    block: int


@dataclass(frozen=True, slots=True)
class Reading:
    """title: "" if the document has none. headings: in order."""

    title: str
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...] = ()


@dataclass(slots=True)
class Writer:
    """Collects characters into blocks; a run of white space is one space, none at the ends.

    A line break between two wide characters is nothing: Japanese lines are broken anywhere.
    """

    blocks: list[Block] = field(default_factory=list)
    _held: list[tuple[str, int, int, bool, bool]] = field(default_factory=list)
    _broken: bool = False

    def add(self, character: str, start: int, end: int, bold: bool, fixed: bool) -> None:
        if character in " \t\n\r\f":
            if self._held and self._held[-1][0] != " ":
                self._held.append((" ", start, end, bold, fixed))
            self._broken = self._broken or character in "\n\r"
            return
        if self._broken and len(self._held) > 1 and self._held[-1][0] == " ":
            between = self._held[-2][0] + character
            if _WIDE.fullmatch(between):
                self._held.pop()
        self._broken = False
        self._held.append((character, start, end, bold, fixed))

    def close(self) -> None:
        """Ends the block; an empty one is none."""
        if self._held and self._held[-1][0] == " ":
            self._held.pop()
        if self._held:
            text, starts, ends, bold, fixed = zip(*self._held, strict=True)
            joined = "".join(text)
            if not all(bold) or is_sentence(joined):
                self.blocks.append(Block(joined, starts, ends, bold, fixed))
        self._held.clear()
        self._broken = False
