"""The paragraphs and headings of a Markdown text, and where their lines stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from naisei.emphasis.corpus.front_matter import front_matter
from naisei.emphasis.corpus.html import html_title
from naisei.emphasis.corpus.inline import Lost, Place, inline, parser

__all__ = ["Paragraph", "markdown_paragraphs"]

_LINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """content: without the marks of quotes and lists. places: per character of it, its offset
    in the text. level: of a heading, else 0. read: what `inline` makes of the content."""

    content: str
    places: tuple[int, ...]
    level: int
    read: tuple[Place, ...]
    _env: dict[str, Any]

    def reread(self, content: str) -> list[Place]:
        """What `inline` makes of another content in its place. Raises `Lost`."""
        return inline(content, _parser(), self._env)


@cache
def _parser() -> MarkdownIt:
    return parser()


def markdown_paragraphs(text: str) -> tuple[str, Iterator[Paragraph]]:
    """Title of the front matter or of an `<h1>`, and paragraphs in order.

    Those of tables are left out, and any whose characters are not found again in the text.
    """
    ends = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    starts = [0, *(after for _, after in ends)]
    lines = list(zip(starts, [*(before for before, _ in ends), len(text)], strict=True))
    plain = _LINE.sub("\n", text)
    title, front = front_matter(plain)
    # Lines keep their numbers.
    body = "\n" * plain.count("\n", 0, front) + plain[front:]
    env: dict[str, Any] = {}
    tokens = _parser().parse(body, env)
    # Many a README has its first heading in HTML, to centre it.
    pages = (html_title(t.content) for t in tokens if t.type == "html_block" and "<h1" in t.content)
    return title or next(pages, ""), _found(tokens, lines, text, env)


def _found(
    tokens: list[Token], lines: list[tuple[int, int]], text: str, env: dict[str, Any]
) -> Iterator[Paragraph]:
    tables = 0
    for opened, token in pairwise(tokens):
        tables += (opened.type == "table_open") - (opened.type == "table_close")
        heading = opened.type == "heading_open"
        if token.type != "inline" or tables or not (heading or opened.type == "paragraph_open"):
            continue
        places = _places(token, lines, text)
        try:
            read = inline(token.content, _parser(), env)
        except Lost:
            continue
        level = int(opened.tag[1]) if heading else 0
        if heading or places is not None:
            yield Paragraph(token.content, tuple(places or ()), level, tuple(read), env)


def _places(token: Token, lines: list[tuple[int, int]], text: str) -> list[int] | None:
    """What markdown-it-py takes away (quote marks, indents) stands before a line, or is white
    space after it."""
    first, last = token.map or [0, 0]
    out: list[int] = []
    written = token.content.split("\n")
    if len(written) > last - first:
        return None
    for line, (start, end) in zip(written, lines[first:], strict=False):
        bare = line.rstrip()
        source = text[start:end].rstrip()
        lead = len(bare) - len(bare.lstrip(" \t"))
        if not source.endswith(bare[lead:]):
            return None
        base = start + len(source) - len(bare) + lead
        # Spaces may stand for a tab: they all are where the words begin.
        out += [max(start, base - 1)] * lead
        out += range(base, base + len(line) - lead)
        out.append(end)
    return out
