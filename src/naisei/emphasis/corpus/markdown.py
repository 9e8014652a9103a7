"""Markdown, read in place. Headings, code, tables and raw HTML blocks are no running text."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.emphasis.corpus.blocks import Heading, Reading, Writer
from naisei.emphasis.corpus.paragraphs import Paragraph, markdown_paragraphs

__all__ = ["read_markdown", "read_paragraphs"]


def read_markdown(text: str) -> Reading:
    """Places are offsets in `text`, whatever its line ends. Only strong emphasis is bold."""
    return read_paragraphs(text)[0]


def read_paragraphs(text: str) -> tuple[Reading, tuple[Paragraph, ...]]:
    """As `read_markdown`, with the paragraph that each block is of."""
    writer, headings, kept = Writer(), list[Heading](), list[Paragraph]()
    title, found = markdown_paragraphs(text)
    for paragraph in found:
        if paragraph.level:
            name = " ".join("".join(p.character for p in paragraph.read).split())
            headings.append(Heading(paragraph.level, name, len(writer.blocks)))
            continue
        places = paragraph.places
        for character, start, end, bold, fixed in paragraph.read:
            writer.add(character, places[start], places[end - 1] + 1, bold, fixed)
        writer.close()
        if len(writer.blocks) > len(kept):
            kept.append(paragraph)
    reading = Reading(title or _first(headings), tuple(writer.blocks), tuple(headings))
    return reading, tuple(kept)


def _first(headings: Sequence[Heading]) -> str:
    """The first heading of level 1, else the first."""
    names = [h.text for h in headings if h.level == 1] or [h.text for h in headings]
    return names[0] if names else ""
