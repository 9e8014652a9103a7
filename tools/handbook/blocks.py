"""The little markup of the handbook's sources, read into blocks.

A source file holds several documents, each after a line ``@@@ path | encoding``. The markup is a
small part of Markdown: headings, paragraphs, bullet and numbered lists, tables, a page break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE_BREAK = "<!--page-->"


@dataclass(frozen=True)
class Source:
    """One document before it is rendered: where it goes, its encoding, its markup."""

    path: str
    encoding: str
    text: str

    @property
    def format(self) -> str:
        return self.path.rsplit(".", 1)[1]


@dataclass(frozen=True)
class Block:
    """``kind`` is h1, h2, h3, p, ul, ol, table or page; a table has rows, the rest items."""

    kind: str
    items: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def read_sources(folder: Path) -> list[Source]:
    """All documents of the folder's ``*.txt`` files, in the order of the files."""
    sources = []
    for file in sorted(folder.glob("*.txt")):
        for part in re.split(r"^@@@ ", file.read_text("utf-8"), flags=re.M)[1:]:
            head, _, text = part.partition("\n")
            path, _, encoding = (piece.strip() for piece in head.partition("|"))
            sources.append(Source(path, encoding or "utf-8", text.strip() + "\n"))
    return sources


def read_blocks(text: str) -> list[Block]:
    """The blocks of one document's markup; front matter is left out."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    return list(_blocks(text.split("\n")))


def _kind(line: str) -> str:
    if line.startswith("|"):
        return "table"
    if line.startswith("- "):
        return "ul"
    if re.match(r"\d+\. ", line):
        return "ol"
    return "p"


def _blocks(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        heading = re.match(r"(#{1,3}) (.+)", line)
        if not line:
            continue
        if line == PAGE_BREAK:
            yield Block("page")
        elif heading:
            yield Block(f"h{len(heading[1])}", [heading[2]])
        else:
            kind, run = _kind(line), [line]
            while kind != "p" and at < len(lines) and _kind(lines[at].strip()) == kind:
                run.append(lines[at].strip())
                at += 1
            yield _run(kind, run)


def _run(kind: str, run: list[str]) -> Block:
    if kind == "table":
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run]
        return Block("table", rows=[row for row in rows if set("".join(row)) != {"-"}])
    return Block(kind, [re.sub(r"^(- |\d+\. )", "", line) for line in run])
