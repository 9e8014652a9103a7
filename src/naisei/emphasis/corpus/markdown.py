"""Markdown, read in place. Headings, code, tables and raw HTML blocks are no running text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from naisei.emphasis.corpus.blocks import Heading, Reading, Writer
from naisei.emphasis.corpus.inline import Lost, Place, inline, parser
from naisei.retrieval.loaders.front_matter import split_front_matter

__all__ = ["read_markdown"]

_FRONT = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)\n\+\+\+)"
    r"[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_PAIR = re.compile(r"^[^\s:#\-][^:]*:(?:\s|$)", re.M)
_TOML_TITLE = re.compile(r"^title\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.M)
_LINE = re.compile(r"\r\n?|\n")


@dataclass(slots=True)
class _State:
    lines: list[tuple[int, int]]
    text: str
    markdown: MarkdownIt
    env: dict[str, Any]
    writer: Writer = field(default_factory=Writer)
    headings: list[Heading] = field(default_factory=list)


@cache
def _parser() -> MarkdownIt:
    return parser()


def read_markdown(text: str) -> Reading:
    """Places are offsets in `text`, whatever its line ends. Only strong emphasis is bold."""
    ends = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    starts = [0, *(after for _, after in ends)]
    lines = list(zip(starts, [*(before for before, _ in ends), len(text)], strict=True))
    plain = _LINE.sub("\n", text)
    title, front = _front_matter(plain)
    # Lines keep their numbers.
    body = "\n" * plain.count("\n", 0, front) + plain[front:]
    env: dict[str, Any] = {}
    markdown = _parser()
    state = _State(lines, text, markdown, env)
    tokens = markdown.parse(body, env)
    cells = 0
    for opened, token in pairwise(tokens):
        cells += (opened.type == "table_open") - (opened.type == "table_close")
        if token.type != "inline" or cells:
            continue
        if opened.type == "heading_open":
            name = "".join(p.character for p in _inline(token.content, state) or ())
            level = int(opened.tag[1])
            state.headings.append(Heading(level, " ".join(name.split()), len(state.writer.blocks)))
        elif opened.type == "paragraph_open":
            _paragraph(token, state)
    headings = tuple(state.headings)
    return Reading(title or _first(headings), tuple(state.writer.blocks), headings)


def _first(headings: tuple[Heading, ...]) -> str:
    """The first heading of level 1, else the first."""
    names = [h.text for h in headings if h.level == 1] or [h.text for h in headings]
    return names[0] if names else ""


def _front_matter(text: str) -> tuple[str, int]:
    """Title ("" if it gives none) and length."""
    found = _FRONT.match(text)
    if found is None or (found["yaml"] is not None and not _PAIR.search(found["yaml"])):
        return "", 0
    if found["yaml"] is None:
        named = _TOML_TITLE.search(found["toml"])
        return (named[1] or named[2] or "" if named else ""), found.end()
    title = split_front_matter(found[0])[0].get("title")
    return (title if isinstance(title, str) else ""), found.end()


def _inline(content: str, state: _State) -> list[Place] | None:
    try:
        return inline(content, state.markdown, state.env)
    except Lost:
        return None


def _paragraph(token: Token, state: _State) -> None:
    places = _places(token, state)
    found = _inline(token.content, state)
    if places is None or found is None:
        return
    for character, start, end, bold, fixed in found:
        state.writer.add(character, places[start], places[end - 1] + 1, bold, fixed)
    state.writer.close()


def _places(token: Token, state: _State) -> list[int] | None:
    """Per character of a paragraph, where it is in the source: what markdown-it-py takes away
    (quote marks, indents) stands before a line, or is white space after it."""
    first, last = token.map or [0, 0]
    out: list[int] = []
    written = token.content.split("\n")
    if len(written) > last - first:
        return None
    for line, (start, end) in zip(written, state.lines[first:], strict=False):
        bare = line.rstrip()
        source = state.text[start:end].rstrip()
        lead = len(bare) - len(bare.lstrip())
        if not source.endswith(bare[lead:]):
            return None
        base = start + len(source) - len(bare) + lead
        # Spaces may stand for a tab: they all are where the words begin.
        out += [base - (lead > 0)] * lead
        out += range(base, base + len(line) - lead)
        out.append(end)
    return out
