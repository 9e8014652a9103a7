"""Markdown and plain text: headings, paragraphs, pipe tables, code, front matter.

Markdown is read as it renders. In plain text, blank lines part paragraphs, and numbered articles
and marked lines are headings.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from pydantic import JsonValue

from naisei.japanese.sentences import outline_level
from naisei.retrieval.loaders.blocks import Blocks, Read, TooLong
from naisei.retrieval.loaders.cascade import TooIntricate
from naisei.retrieval.loaders.html import read_html
from naisei.text_files import toml_of

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([^\s:#\-][^:：]*?)\s*[:：]\s*(.*)$")
_LONGEST = 10_000


def split_front_matter(text: str) -> tuple[dict[str, JsonValue], str]:
    """(keys and values, the rest of the text). Values are text, or lists of text (`[a, b]` or
    `- a` lines). Nested mappings are not read; a block that holds no pair is text. Between `+++`
    it is TOML, of which texts and lists of texts are kept.

    >>> split_front_matter("---\\ntitle: 旅費規程\\ntags: [出張, 経費]\\n---\\n本文")
    ({'title': '旅費規程', 'tags': ['出張', '経費']}, '本文')
    """
    if text.startswith("+++") and (block := _TOML.match(text[:_LONGEST])):
        try:
            return _of_toml(toml_of(block[1])), text[block.end() :]
        except tomllib.TOMLDecodeError:
            return {}, text
    block = _BLOCK.match(text[:_LONGEST])
    if block is None:
        return {}, text
    meta: dict[str, JsonValue] = {}
    items: list[JsonValue] | None = None
    for line in block[1].split("\n"):
        if items is not None and (item := re.match(r"^\s*-\s+(.*)$", line)):
            items.append(_bare(item[1]))
        elif pair := _PAIR.match(line):
            key, value = pair[1].strip(), pair[2].strip()
            items = None
            if value.startswith("[") and value.endswith("]"):
                meta[key] = [_bare(v) for v in value[1:-1].split(",") if v.strip()]
            elif value:
                meta[key] = _bare(value)
            else:
                items = []
                meta[key] = items
    return (meta, text[block.end() :]) if meta else ({}, text)


def _of_toml(table: dict[str, Any]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in table.items():
        if isinstance(value, list):
            found[key] = [str(each) for each in value if not isinstance(each, dict | list)]
        elif not isinstance(value, dict):
            found[key] = str(value)
    return found


def _bare(value: str) -> str:
    value = re.sub(r"\s+#.*$", "", value).strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


_RULE = re.compile(r"^\s*[-=*_─━＝ー～~]{4,}\s*$")
#: What stands between two cells of a line: tabs, or spaces in a row.
_BETWEEN_CELLS = re.compile(r"\t+|[ \u3000]{2,}|(?<=\S)\u3000 ")


def read_plain(text: str, most: int) -> Read:
    """Headings are lines such as 第3条（休暇）, 1.2 申請, 【連絡先】, ■ 手順, standing alone."""
    blocks = Blocks(most)
    held: list[str] = []
    title, text = _titled(text)
    blocks.heading(1, title)

    def flush() -> None:
        cells = [_BETWEEN_CELLS.split(line.strip()) for line in held]
        for columns, group in groupby(range(len(held)), key=lambda n: len(cells[n])):
            rows = list(group)
            if columns > 1 and len(rows) > 1:
                blocks.table([cells[n] for n in rows])
            else:
                blocks.text("\n".join(held[n] for n in rows))
        held.clear()

    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not line.strip() or _RULE.match(line):
            flush()
        elif (level := outline_level(line)) is not None or (level := _clause(lines, at)):
            flush()
            blocks.heading(level + 1, line)
        else:
            held.append(line.rstrip())
    flush()
    return Read(blocks.passages, title)


_CLAUSE = re.compile(r"^\s*[(（][0-9０-９一二三四五六七八九十]{1,2}[)）]\s*[^。、:：]{1,20}$")


def _clause(lines: Sequence[str], at: int) -> int | None:
    """5 for a line such as (2) 手続 with its text below; those that follow each other are a
    list."""
    around = (lines[at - 1] if at else "", lines[at + 1] if at + 1 < len(lines) else "")
    listed = any(_CLAUSE.match(line) for line in around) or not around[1].strip()
    return 5 if _CLAUSE.match(lines[at]) and not listed else None


def _titled(text: str) -> tuple[str, str]:
    """(title, the rest): a first line that is short, no sentence, and stands alone."""
    first, _, rest = text.lstrip("\n").partition("\n")
    after, _, more = rest.partition("\n")
    alone = not after.strip() or _RULE.match(after) is not None
    said = first.strip(" \t\u3000=-#■●◆*【】")
    if (
        alone
        and rest.strip()
        and 1 < len(said) <= 50
        and not said.endswith(("。", "、", ".", ":", "："))
    ):
        return said, more if _RULE.match(after) else rest
    return "", text


_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t\u3000]+(.*?)|(?=[^#\s])(.*?))[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_DIVIDER = re.compile(r"^\|?:?-+:?(?:\|:?-+:?)*\|?$")
_CELL = re.compile(r"(?<!\\)\|")
#: Each part ends where the next could begin, so that a row of open brackets takes linear time.
_TARGET = r"\([^()\s]*\)"
_IMAGE = re.compile(rf"!\[[^\[\]]*\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]]+)\]{_TARGET}")
#: What only a full parser tells text from: HTML, definitions of links, targets with a title.
_INTRICATE = re.compile(r"<[A-Za-z/!?]|\]:|\]\((?![^()\s\"'<>\\]*\))|\]\[")
_STRONG = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
#: Emphasis is looked for in shorter lines only: the time grows with the square of the length.
_LONGEST_LINE = 2000
_BREAK = re.compile(r"<br\s*/?>")
_RULER = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")


def read_markdown(text: str, most: int) -> Read:
    """As it renders: HTML in it is read as HTML, definitions and titles of links are no text.

    Raises:
        TooIntricate: very long paragraphs with very many marks.
        TooLong: more characters than `most`.
    """
    meta, body = split_front_matter(text)
    if _INTRICATE.search(body):
        return _rendered(body, meta, most)
    blocks = Blocks(most)
    held: list[str] = []
    fence = ""

    def flush() -> None:
        blocks.text("\n".join(held))
        held.clear()

    lines = body.split("\n")
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
                rows.append(_cells(lines[at])[: len(rows[0])])
                at += 1
            blocks.table(rows)
        elif not line.strip() or _RULER.match(line):
            flush()
        else:
            held.append(_inline(line.rstrip()))
    flush()
    title = meta.get("title")
    return Read(blocks.passages, title if isinstance(title, str) else blocks.first, meta)


#: A heading without a space after its marks is one in Japanese texts; a note is shown.
_TIGHT_HEADING = re.compile(r"^( {0,3}#{1,6})(?=[^#\s])")
_NOTE_START = re.compile(r"^( {0,3})\[\^")
#: One that nothing refers to is not shown, nor are the indented lines that go on with it.
_NOTE = re.compile(r"^( {0,3})\[\^([^\[\]\s]{1,100})\]:", re.M)
_REFERENCE = re.compile(r"\[\^([^\[\]\s]{1,100})\]")
_GOES_ON = re.compile(r" {2}|\t")
#: Marks of a paragraph, times its length: the parser may look back for each.
_MARKS = re.compile(r"[<\[\]!*_`&~]")
_STEPS = 20_000_000


def _rendered(body: str, meta: dict[str, JsonValue], most: int) -> Read:
    """Read as the page that it is rendered to."""
    fence = ""
    lines: list[str] = []
    unasked = False
    asked = Counter(_REFERENCE.findall(body))
    asked.subtract(name for _, name in _NOTE.findall(body))
    marks = length = steps = 0
    for line in body.split("\n"):
        opened = _FENCE.match(line)
        if fence:
            fence = "" if line.strip().startswith(fence) and opened else fence
        elif opened:
            fence = opened[1]
        else:
            if note := _NOTE.match(line):
                unasked = asked[note[2]] < 1
            else:
                unasked = unasked and (not line.strip() or bool(_GOES_ON.match(line)))
            if unasked:
                line = ""
            line = _NOTE_START.sub(r"\1\\[^", _TIGHT_HEADING.sub(r"\1 ", line))
        marks, length = marks + len(_MARKS.findall(line)), length + len(line)
        if not line.strip():
            steps, marks, length = steps + marks * length, 0, 0
        lines.append(line)
    if len(body) > most:
        raise TooLong
    if steps + marks * length > _STEPS:
        raise TooIntricate("Markdown")
    read = read_html(_renderer().render("\n".join(lines)), most)
    title = meta.get("title")
    return Read(read.passages, title if isinstance(title, str) else read.title, meta, read.hidden)


@cache
def _renderer() -> MarkdownIt:
    """CommonMark with GitHub's tables; line ends are kept."""
    return MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])


def _divides(line: str) -> bool:
    return (
        "|" in line
        and len(line) < _LONGEST_LINE
        and _DIVIDER.match("".join(line.split())) is not None
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
        line = _LINK.sub(r"\1", _IMAGE.sub("", line))
    if len(line) > _LONGEST_LINE or not any(mark in line for mark in ("**", "__", "~~")):
        return line
    return _STRONG.sub(r"\2", line)
