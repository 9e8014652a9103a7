"""Documents as bytes, and the paragraphs parsed from them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import Undecodable, encoding_of

_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]"
_BOTH_WIDE = re.compile(_WIDE + "{2}")
_MIXED = re.compile(f"{_WIDE}[A-Za-z0-9]|[A-Za-z0-9]{_WIDE}")
_MIXED_CONTACT = re.compile(f"(?=({_WIDE} ?[A-Za-z0-9]|[A-Za-z0-9] ?{_WIDE}))")
_WIDE_CONTACT = re.compile(f"(?=({_WIDE} ?{_WIDE}))")
#: Share of boundaries between wide characters that have a space; above it, spaces separate words.
_PARTS_WORDS = 0.1
#: Patterns of fully bold paragraphs: the first marks a sentence, the second a caption.
_SENTENCE = re.compile(r"[。．.!?！？][」』）)]*\Z")
_CAPTION = re.compile(r"(?:図|表|例|写真|Figure|Fig\.|Table|Example)\s*[0-9０-９]", re.I)


def is_sentence(text: str) -> bool:
    """Whether a fully bold paragraph is emphasis; otherwise it serves as a heading or a caption.

    >>> is_sentence("必ず読むこと。"), is_sentence("図 3 全体"), is_sentence("使い方")
    (True, False, False)
    """
    return bool(_SENTENCE.search(text)) and not _CAPTION.match(text)


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or the like. All sequences have one entry per character of text.

    starts, ends: offsets of the character in the source, in characters (`&amp;` is one
    character of the text and five of the source; both are 0 if a source has no offsets).
    bold: emphasised. fixed: cannot be emphasised (inline code, the text of a link).
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    bold: tuple[bool, ...]
    fixed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class ParsedText:
    """title: "" if missing. writer, domain: from the document, or ""."""

    title: str
    blocks: tuple[Block, ...]
    writer: str = ""
    domain: str = ""


@dataclass(slots=True)
class BlockBuilder:
    """Collects characters into blocks; collapses white space to one space and trims the ends.

    Drops line breaks between two wide characters, since Japanese lines can break anywhere.
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
            if _BOTH_WIDE.fullmatch(between):
                self._held.pop()
        self._broken = False
        self._held.append((character, start, end, bold, fixed))

    def close(self) -> None:
        """End the block; an empty one is dropped."""
        if self._held and self._held[-1][0] == " ":
            self._held.pop()
        if self._held:
            text, starts, ends, bold, fixed = zip(*self._held, strict=True)
            joined = "".join(text)
            if not all(bold) or is_sentence(joined):
                self.blocks.append(Block(joined, starts, ends, bold, fixed))
        self._held.clear()
        self._broken = False

    def finished(self) -> tuple[Block, ...]:
        """The blocks as their writer would have typed them without emphasis.

        CommonMark often requires spaces around `**`, and these would reveal where the emphasis
        was. Only a space at a mark's edge can be such a space. It is the writer's own if the
        document also has spaces at such boundaries without a mark; between wide characters also
        if most marks have no spaces and this one needs none.
        """
        habits = _Habits.of(self.blocks)
        return tuple(_unspaced(block, habits) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class _Habits:
    """A document's use of spaces. latin, wide: spaces between a Latin and a wide character and
    between two wide ones, without a mark. tight_marks: most marks between wide letters have no
    spaces."""

    latin: bool
    wide: bool
    tight_marks: bool

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _Habits:
        latin, wide = (_Spaces.of(blocks, c, edge=False) for c in (_MIXED_CONTACT, _WIDE_CONTACT))
        marks = _Spaces.of(blocks, _WIDE_CONTACT, edge=True)
        return cls(
            latin.spaced > latin.tight,
            wide.spaced > _PARTS_WORDS * (wide.spaced + wide.tight),
            marks.tight > marks.spaced,
        )


@dataclass(frozen=True, slots=True)
class _Spaces:
    """Boundaries with and without a space."""

    spaced: int
    tight: int

    @classmethod
    def of(cls, blocks: Iterable[Block], contact: re.Pattern[str], *, edge: bool) -> _Spaces:
        """edge: count boundaries between letters at the edge of a mark; otherwise all others."""
        spaced = tight = 0
        for block in blocks:
            for found in contact.finditer(block.text):
                start, end = found.span(1)
                letters = block.text[start].isalnum() and block.text[end - 1].isalnum()
                if (
                    (len({*block.bold[start:end]}) > 1) == edge
                    and (letters or not edge)
                    and not any(block.fixed[start:end])
                ):
                    spaced += end - start == 3
                    tight += end - start == 2
        return cls(spaced, tight)


def _unspaced(block: Block, habits: _Habits) -> Block:
    text, bold = block.text, block.bold
    kept = [
        i
        for i, character in enumerate(text)
        if character != " " or len(set(bold[i - 1 : i + 2])) == 1 or _stays(block, i, habits)
    ]
    if len(kept) == len(text):
        return block
    starts, ends = (tuple(part[i] for i in kept) for part in (block.starts, block.ends))
    still, fixed = (tuple(part[i] for i in kept) for part in (bold, block.fixed))
    return Block("".join(text[i] for i in kept), starts, ends, still, fixed)


def _stays(block: Block, i: int, habits: _Habits) -> bool:
    """Whether to keep a space next to a mark."""
    about = block.text[i - 1] + block.text[i + 1]
    # `**term** what it means` has two words even without its marks.
    if all(block.bold[:i]) and not "\u3040" <= about[1] <= "\u309f":
        return True
    if _BOTH_WIDE.fullmatch(about):
        # With punctuation on its inner side, `**` is a mark only next to a space.
        return habits.wide or (habits.tight_marks and about[block.bold[i + 1]].isalnum())
    return habits.latin or not _MIXED.fullmatch(about)


# The bytes of a document aligned with its characters, so that marks can be inserted without
# changing anything else.

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BAD = re.compile("[\udc80-\udcff]")
#: Highest share of invalid characters; above it, another encoding is assumed.
_MOST_BAD = 0.1
#: ISO-2022-JP switches character sets by escapes, so a mark could fall inside another set.
_STATEFUL = "iso2022_jp_ext"
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Insertion:
    """A mark (ASCII) before the character at this offset in the text."""

    at: int
    mark: str


@dataclass(frozen=True, slots=True)
class Source:
    """text: without byte-order mark; invalid bytes become U+FFFD."""

    data: bytes
    text: str
    encoding: str
    bom: bytes

    @classmethod
    def of(cls, data: bytes, *, place: str = "") -> Source:
        """Raises:
        InputError: binary data, or an unknown encoding.
        """
        loose = data.decode("utf-8", "surrogateescape")
        bad = len(_BAD.findall(loose))
        if bad and bad <= _MOST_BAD * sum(character > "\x7f" for character in loose):
            encoding = "utf-8"
        else:
            try:
                encoding = encoding_of(data)
            except Undecodable:
                raise _no_text(place) from None
        marks = ((mark, own) for mark, own in _BOMS if data.startswith(mark))
        bom, name = next(marks, (b"", encoding))
        errors = "surrogateescape" if name == "utf-8" else "strict"
        text = _BAD.sub("\ufffd", data[len(bom) :].decode(name, errors))
        if len(_CONTROL.findall(text)) > len(text) / 100:
            raise _no_text(place)
        return cls(data, text, name, bom)

    def with_marks(self, insertions: Iterable[Insertion]) -> bytes:
        """The bytes with the marks inserted; marks at the same offset stay in the given order.

        Raises:
            InputError: ISO-2022-JP.
        """
        marks = sorted(insertions, key=lambda insertion: insertion.at)
        if not marks:
            return self.data
        if self.encoding == _STATEFUL:
            message = say(
                "ISO-2022-JP の文書には印を付けられません",
                "no marks can be put into a document in ISO-2022-JP",
            )
            raise InputError(message, remedy=say("UTF-8 にしてください", "convert it to UTF-8"))
        # An invalid byte is one character, like U+FFFD in the file itself.
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        text = self.data[len(self.bom) :].decode(self.encoding, errors)
        out, at, place = [self.bom], 0, len(self.bom)
        for insertion in marks:
            size = len(text[at : insertion.at].encode(self.encoding, errors))
            out += [self.data[place : place + size], insertion.mark.encode(self.encoding)]
            at, place = insertion.at, place + size
        return b"".join([*out, self.data[place:]])


def _no_text(place: str) -> InputError:
    return InputError(
        say("文字コードを判別できません", "this is not text in a known encoding"),
        place=place,
        remedy=say("UTF-8 のテキストにしてください", "convert it to UTF-8"),
    )
