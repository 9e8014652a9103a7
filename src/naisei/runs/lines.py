"""An episode as lines: each system renders them once, and every view draws them.

A system makes `Line`s of its results and of its events. The terminal, the report, a notebook, the
pages and `naisei demo` draw them; none knows the system.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from naisei.lang import say

if TYPE_CHECKING:
    from naisei.terminal import Console

Tone = Literal["", "good", "warn", "bad", "dim", "head"]
_STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "dim": "dim",
    "head": "bold cyan",
}
#: Indentation of text under a line.
_INDENT = 2


class Mark(NamedTuple):
    """A short judgement beside a line. hint: its meaning, shown on hover. word: the meaning in the
    reader's language, shown in its place on a page."""

    text: str
    tone: Tone = ""
    hint: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: an utterance, action or finding.

    number: its number in plain text. who: speaker or kind. under: details such as reasons. more:
    details that only pages show, on demand; the line is their summary. mine: by the person, or by
    the second of two. draft: unused. inset: indented in plain text, as a step before a line.
    rich: the text is Markdown. link: target; into: the panel that shows it, else a new page.
    """

    text: str = ""
    who: str = ""
    number: str = ""
    tone: Tone = ""
    marks: tuple[Mark, ...] = ()
    under: tuple[Line, ...] = ()
    more: tuple[Line, ...] = ()
    mine: bool = False
    draft: bool = False
    inset: bool = False
    rich: bool = False
    link: str = ""
    into: str = ""


def as_text(lines: Sequence[Line]) -> str:
    """Plain text: a row a line, details indented below."""
    rows = (
        " " * indent + "".join(text for text, _ in parts).rstrip() for indent, parts in _rows(lines)
    )
    return "\n".join(rows)


def print_lines(lines: Sequence[Line], console: Console, *, most: int = sys.maxsize) -> None:
    """On a terminal, wrapped as Japanese is. most: rows after which the rest is left out."""
    from rich.text import Text

    from naisei.terminal import print_wrapped

    for indent, parts in _rows(lines):
        if most <= 0:
            console.print(say("…（続きは報告に）", "… (the rest is in the report)"), style="dim")
            return
        row = Text.assemble(" " * indent, *parts)
        most -= print_wrapped(console, row, indent=indent + _INDENT)


def _rows(lines: Sequence[Line], indent: int = 0) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Each row: by how much it is set in, and its pieces with their styles."""
    for line in lines:
        own = indent + _INDENT * (line.draft or line.inset)
        style = "dim" if line.draft else _STYLES[line.tone]
        first, *rest = line.text.split("\n")
        if line.who and rest:  # a text of several rows stands below
            first, rest = "", [first, *rest]
        who = f"{line.who}: " if line.who and first else line.who
        parts = [(f"{line.number} " if line.number else "", "dim"), (who, "bold"), (first, style)]
        if line.marks:
            told = " · ".join(mark.text for mark in line.marks)
            parts.append((f"  [{told}]", _STYLES[line.marks[0].tone]))
        yield own, parts
        yield from ((own + _INDENT * bool(line.who), [(row, style)]) for row in rest)
        yield from _rows(line.under, own + _INDENT)


def lines_html(lines: Sequence[Line]) -> str:
    """As a notebook shows them."""
    from naisei.runs.report import templates

    return templates().get_template("lines.html").render(lines=lines)


def folded(lines: Sequence[Line]) -> list[Line]:
    """With unused drafts folded under the final line, as on pages."""
    out: list[Line] = []
    drafts: list[Line] = []
    for line in lines:
        if line.draft:
            drafts.append(line)
            continue
        if drafts:
            told = say(f"通らなかった下書き {len(drafts)}つ", f"{len(drafts)} rejected")
            line = replace(line, under=(*line.under, Line(told, tone="dim", more=tuple(drafts))))
            drafts = []
        out.append(line)
    return out + drafts
