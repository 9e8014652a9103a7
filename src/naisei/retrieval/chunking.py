"""Splits passages into chunks: parts of one section, the unit of search and citation.

A chunk never crosses a heading and never contains part of a table row; table rows repeat their
header. Long sections are split at paragraphs, then at sentences. Neighbouring chunks overlap, so
that text at a split is complete in one of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from naisei.japanese.sentences import refers_back, sentence_spans
from naisei.retrieval.types import Document, Passage


class Chunking(NamedTuple):
    """size: maximum number of characters in a chunk (a single table row may exceed it). overlap:
    maximum number of characters, in whole sentences, repeated from the previous chunk of the
    section; at most half the size."""

    size: int = 500
    overlap: int = 80


CHUNKING = Chunking()


@dataclass(frozen=True, slots=True)
class RawChunk:
    """A chunk without its document's metadata."""

    id: str
    headings: tuple[str, ...]
    page: int | None
    text: str


def raw_chunks(document: Document, chunking: Chunking = CHUNKING) -> list[RawChunk]:
    """Chunks in reading order. Ids are unique within a document."""
    found: list[RawChunk] = []
    for headings, section in groupby(document.passages, key=lambda p: p.headings):
        for page, text in _section(list(section), chunking):
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            found.append(RawChunk(f"{document.path}#{len(found)}-{digest}", headings, page, text))
    return found


def _section(section: list[Passage], chunking: Chunking) -> Iterator[tuple[int | None, str]]:
    """Yield (page of the first line, text) of each chunk of a section."""
    held: list[tuple[Passage, str]] = []
    length = 0
    for unit in _units(section, chunking):
        if held and length + _more(held[-1], unit) > chunking.size:
            yield held[0][0].page, _joined(held)
            held = _tail(held, unit, chunking)
            length = len(_joined(held))
        length += _more(held[-1] if held else None, unit)
        held.append(unit)
    if held:
        yield held[0][0].page, _joined(held)


def _units(section: Iterable[Passage], chunking: Chunking) -> Iterator[tuple[Passage, str]]:
    """Yield passages; split long ones at sentences, and overlong sentences at `size`."""
    # A cut passage leaves room for the overlap.
    for passage in section:
        if passage.kind == "row" or len(passage.text) <= chunking.size:
            yield passage, passage.text
            continue
        held, size = "", chunking.size - chunking.overlap - 1
        for sentence in _short(sentence_spans(passage.text), size):
            if held and len(held) + len(sentence) > size:
                yield passage, held.strip()
                held = ""
            held += sentence
        if held.strip():
            yield passage, held.strip()


def _short(sentences: Iterable[str], size: int) -> Iterator[str]:
    for sentence in sentences:
        for start in range(0, len(sentence), size):
            yield sentence[start : start + size]


def _joined(units: list[tuple[Passage, str]]) -> str:
    lines: list[str] = []
    header = ""
    for passage, text in units:
        if passage.kind == "row" and passage.header and passage.header != header:
            lines.append(passage.header)
        header = passage.header if passage.kind == "row" else ""
        lines.append(text)
    return "\n".join(lines)


def _more(before: tuple[Passage, str] | None, unit: tuple[Passage, str]) -> int:
    """Number of characters that a unit adds when joined."""
    header = unit[0].header if unit[0].kind == "row" else ""
    above = before[0].header if before is not None and before[0].kind == "row" else ""
    repeated = len(header) + 1 if header and header != above else 0
    return repeated + len(unit[1]) + (before is not None)


def _tail(
    held: list[tuple[Passage, str]], unit: tuple[Passage, str], chunking: Chunking
) -> list[tuple[Passage, str]]:
    """The last whole sentences of a chunk that fit the overlap, plus any that the next one refers
    back to; no table rows."""
    passage, text = held[-1]
    if passage.kind == "row" or unit[0].kind == "row":
        return []
    most = chunking.size - len(unit[1]) - 1
    kept = ""
    for sentence in reversed(sentence_spans(text)):
        room = most if refers_back(kept or unit[1]) else min(chunking.overlap, most)
        if len(kept) + len(sentence) > room:
            break
        kept = sentence + kept
    return [(passage, kept.strip())] if kept.strip() else []


class Span(NamedTuple):
    """A sentence or table row of a chunk. said: text to embed. written: text in the chunk. line:
    line number in the chunk, from 0. header: for a row, the first row of its table."""

    said: str
    written: str
    line: int
    header: str = ""


def spans(text: str) -> list[Span]:
    """The sentences and rows of a chunk, in order."""
    found: list[Span] = []
    lines = list(enumerate(text.split("\n")))
    for table, group in groupby(lines, key=lambda at: at[1].lstrip().startswith("|")):
        if table:
            found += _rows(list(group))
        else:
            for at, line in group:
                found += [Span(s.strip(), s.strip(), at) for s in sentence_spans(line)]
    return [span for span in found if span.said]


def _rows(lines: list[tuple[int, str]]) -> Iterator[Span]:
    header = lines[0][1]
    names = cells_of(header)
    if len(lines) == 1:
        yield Span("、".join(cell for cell in names if cell), header, lines[0][0])
        return
    for at, line in lines[1:]:
        cells = cells_of(line)
        if len(names) == len(cells):
            cells = [f"{n} {c}".strip() for n, c in zip(names, cells, strict=True) if c]
        yield Span("、".join(cell for cell in cells if cell), line, at, header)


def cells_of(line: str) -> list[str]:
    """The cells of a row `| a | b |`."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


class Table(NamedTuple):
    """rows: cells and original text. header: empty for a list of labels with values."""

    header: str
    rows: list[tuple[list[str], str]]


_LABELLED = re.compile(r"^\s*(?:[-*・●○]\s*)?([^。：、]{1,40})：([^：]+)$")


def tables_of(text: str) -> Iterator[Table]:
    """The tables of a text; lines of label and value form one without a header."""
    units = spans(text)
    for header, rows in groupby((u for u in units if u.header), key=lambda unit: unit.header):
        yield Table(header, [(cells_of(unit.written), unit.written) for unit in rows])
    labelled = [(m, line) for line in text.split("\n") if (m := _LABELLED.match(line))]
    if labelled:
        yield Table("", [([m[1].strip(), m[2].strip()], line.strip()) for m, line in labelled])


#: Increased when `sentence_units` or its embedded text changes: sentences are embedded again.
UNITS_VERSION = 4

#: Most sentences per chunk.
_APART = 64


def embedding_text(title: str, headings: Sequence[str], text: str) -> str:
    """The text to embed for a chunk: title and headings, then its text."""
    return f"{path_of(title, headings)}\n{text}"


def path_of(title: str, headings: Sequence[str]) -> str:
    """A chunk's path: the title, then the headings."""
    return " > ".join([title, *(heading for heading in headings if heading != title)])


def span_text(title: str, headings: Sequence[str], sentence: str) -> str:
    """The text to embed for a sentence: its innermost heading, then the sentence. The full path
    would outweigh the sentence."""
    where = [title, *(heading for heading in headings if heading != title)]
    return " ".join([*where[-2:], sentence])


def sentence_units(text: str) -> list[str]:
    """The sentences of a chunk, and its table rows with column names. Empty if there is only one:
    then the chunk's own vector is enough.

    >>> sentence_units("| 対象 | 日数 |\\n| 本人 | 5日 |\\n| 子 | 2日 |\\n有給とする。")
    ['対象 本人、日数 5日', '対象 子、日数 2日', '有給とする。']
    """
    found = [span.said for span in spans(text)]
    return found[:_APART] if len(found) > 1 else []
