"""Markdown and plain text: headings, paragraphs, pipe tables, code, front matter.

Markdown is read as it renders. In plain text, blank lines part paragraphs, and numbered articles
and marked lines are headings.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from pydantic import JsonValue

from naisei.japanese.sentences import outline_level
from naisei.retrieval.loaders.blocks import CLAUSE, Blocks, Read, TooIntricate, TooLong
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.tables import Cell
from naisei.text_files import toml_of

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([^\s:#\-][^:：]*?)\s*[:：]\s*(.*)$")
_LONGEST = 10_000


def split_front_matter(text: str) -> tuple[dict[str, JsonValue], str]:
    """(keys and values, the rest of the text). Values are text, or lists of text (`[a, b]` or
    `- a` lines). Nested mappings are not read; a block without pairs is text. Between `+++` it is
    TOML; texts and lists of texts are used.

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
#: Separators of cells in a line: tabs, or several spaces.
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
                blocks.table([[Cell(text) for text in cells[n]] for n in rows])
            else:
                blocks.text("\n".join(held[n] for n in rows))
        held.clear()

    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not line.strip() or _RULE.match(line):
            flush()
        elif (level := outline_level(line)) is not None:
            flush()
            blocks.heading(level + 1, line)
        elif _clause(lines, at):
            flush()
            blocks.heading(CLAUSE, line)
        else:
            if _PARAGRAPH.match(line):
                flush()
                blocks.close(CLAUSE)
            held.append(line.rstrip())
    flush()
    return Read(blocks.passages, title)


_CLAUSE = re.compile(r"^\s*[(（][0-9０-９一二三四五六七八九十]{1,2}[)）]\s*[^。、:：]{1,20}$")


#: Of an article: 「2　同じ理由による…」.
_PARAGRAPH = re.compile(r"^[0-9０-９]{1,2}[\u3000 ]\S")


def _clause(lines: Sequence[str], at: int) -> bool:
    """Whether a line such as (2) 手続 has its text below; those that follow each other are a
    list."""
    around = (lines[at - 1] if at else "", lines[at + 1] if at + 1 < len(lines) else "")
    listed = any(_CLAUSE.match(line) for line in around) or not around[1].strip()
    return _CLAUSE.match(lines[at]) is not None and not listed


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


#: A heading without a space after its marks is one in Japanese texts.
_TIGHT_HEADING = re.compile(r"^( {0,3}#{1,6})(?=[^#\s])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
#: Boxes of some renderers (`:::message`).
_BOX = re.compile(r"^ {0,3}:{3,}.*$")
#: Marks of a paragraph, times its length: the parser may look back for each.
_MARKS = re.compile(r"[<\[\]!*_`&~]")
_STEPS = 20_000_000


def read_markdown(text: str, most: int) -> Read:
    """As it renders: HTML in it is read as HTML, definitions and titles of links are skipped.

    Raises:
        TooIntricate: very long paragraphs with very many marks.
        TooLong: more characters than `most`.
    """
    meta, body = split_front_matter(text)
    fence = ""
    lines: list[str] = []
    marks = length = steps = 0
    for line in body.split("\n"):
        opened = _FENCE.match(line)
        if fence:
            fence = "" if line.strip().startswith(fence) and opened else fence
        elif opened:
            fence = opened[1]
        else:
            line = _TIGHT_HEADING.sub(r"\1 ", _BOX.sub("", line))
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
    """CommonMark with GitHub's tables, definitions, footnotes; line ends are kept."""
    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    return parser.use(deflist_plugin).use(footnote_plugin, inline=False).use(tasklists_plugin)
