"""Reads the documentation: its pages, and their fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("src/naisei/**/*.md"),
        *ROOT.glob("plugins/*/*.md"),
    ]
)
#: Prompts are not documentation, and neither are the documents that the assistant reads.
_DATA = (ROOT / "src/naisei/data/handbook", ROOT / "src/naisei/data/injection_documents/documents")
PAGES = [
    page
    for page in PAGES
    if page.parent.name != "prompts" and not any(page.is_relative_to(data) for data in _DATA)
]

_MARK = re.compile(r"<!-- (file|compile only): (.+?) -->")


@dataclass(frozen=True)
class Block:
    """One fenced block. line: of its first line, counted from 0."""

    language: str
    text: str
    line: int
    file: str = ""
    compile_only: bool = False


def blocks(page: Path) -> list[Block]:
    lines = page.read_text("utf-8").splitlines()
    found: list[Block] = []
    start: int | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
            continue
        mark = _MARK.fullmatch(lines[start - 1].strip()) if start else None
        found.append(
            Block(
                language=lines[start].removeprefix("```").strip(),
                text="\n".join(lines[start + 1 : number]) + "\n",
                line=start + 1,
                file=mark[2] if mark and mark[1] == "file" else "",
                compile_only=bool(mark and mark[1] == "compile only"),
            )
        )
        start = None
    assert start is None, f"{page}: a block is not closed"
    return found
