"""Markdown: headings, paragraphs, pipe tables, code; front matter; HTML comments are no text."""

from __future__ import annotations

import re

from naisei.retrieval.loaders.blocks import Blocks, Read
from naisei.retrieval.loaders.front_matter import split_front_matter

__all__ = ["read_markdown"]

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t\u3000]+(.*?)|(?=[^#\s])(.*?))[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_DIVIDER = re.compile(r"^\|?:?-+:?(?:\|:?-+:?)*\|?$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")
#: Each part ends where the next could begin, so that a row of open brackets takes linear time.
_TARGET = r"\([^()]*(?:\([^()]*\)[^()]*)?\)"
_IMAGE = re.compile(rf"!\[([^\[\]]*)\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]]+)\]{_TARGET}")
_STRONG = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
#: Emphasis is looked for in shorter lines only: the time grows with the square of the length.
_LONGEST = 2000
_BREAK = re.compile(r"<br\s*/?>")
_RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")


def read_markdown(text: str, most: int) -> Read:
    meta, body = split_front_matter(text)
    blocks = Blocks(most)
    held: list[str] = []
    fence = ""

    def flush() -> None:
        blocks.text("\n".join(held))
        held.clear()

    lines = _uncommented(body).split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if fence or (opened := _FENCE.match(line)):
            if not fence:
                flush()
                fence = opened[1] if opened else ""
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                flush()
            else:
                held.append(line)
        elif len(line) < 500 and (found := _HEADING.match(line)):
            flush()
            blocks.heading(len(found[1]), _inline(found[2] or found[3] or ""))
        elif len(held) == 1 and _UNDERLINE.match(line) and "|" not in held[0]:
            name = held.pop()
            blocks.heading(1 if "=" in line else 2, name)
        elif "|" in line and at < len(lines) and _divides(lines[at]):
            flush()
            rows = [_cells(line)]
            at += 1
            while at < len(lines) and "|" in lines[at] and lines[at].strip():
                rows.append(_cells(lines[at]))
                at += 1
            blocks.table(rows)
        elif not line.strip() or _RULE.match(line):
            flush()
        else:
            held.append(_inline(line.rstrip()))
    flush()
    title = meta.get("title")
    return Read(blocks.passages, title if isinstance(title, str) else blocks.first, meta)


def _uncommented(text: str) -> str:
    """Comments are not shown to a reader; inside fenced code they are."""
    kept: list[str] = []
    held: list[str] = []
    fence = ""
    for line in text.split("\n"):
        held.append(line)
        opened = _FENCE.match(line)
        if opened is None or (fence and not line.strip().startswith(fence)):
            continue
        if fence:
            kept.append("\n".join(held))
            fence, held = "", []
        elif not _open_comment(held):
            kept.append(_COMMENT.sub("", "\n".join(held[:-1])))
            fence, held = opened[1], [line]
    rest = "\n".join(held)
    kept.append(rest if fence else _COMMENT.sub("", rest))
    return "\n".join(kept)


def _open_comment(lines: list[str]) -> bool:
    """Whether a comment is begun and not ended: a fence within it is none."""
    for line in reversed(lines):
        if "<!--" in line or "-->" in line:
            return line.rfind("<!--") > line.rfind("-->")
    return False


def _divides(line: str) -> bool:
    return (
        "|" in line and len(line) < _LONGEST and _DIVIDER.match("".join(line.split())) is not None
    )


def _cells(line: str) -> list[str]:
    if "<" in line:
        line = _BREAK.sub(" ", line)
    cells = [cell.replace("\\|", "|") for cell in _CELL.split(line.strip())]
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip():
        cells = cells[:-1]
    return [_inline(cell) for cell in cells]


def _inline(line: str) -> str:
    """The words of a line without its marks of emphasis, links and images."""
    if "](" in line:
        line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
    if len(line) > _LONGEST or not any(mark in line for mark in ("**", "__", "~~")):
        return line
    return _STRONG.sub(r"\2", line)
