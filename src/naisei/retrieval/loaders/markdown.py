"""Markdown and plain text: headings, paragraphs, pipe tables, code.

Markdown is read as rendered. In plain text, blank lines separate paragraphs; numbered articles and
marked lines are headings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from naisei.japanese.sentences import outline_level
from naisei.retrieval.loaders.blocks import CLAUSE, Blocks, Read, TooIntricate, TooLong
from naisei.retrieval.loaders.front_matter import split_front_matter, stated_facts
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.tables import Cell

_RULE = re.compile(r"^\s*[-=*_─━＝ー～~]{4,}\s*$")
#: Cell separators in a line: tabs, or several spaces.
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
                blocks.text("\n".join(unwrapped([held[n] for n in rows])))
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


#: The start of a separate line: a list item, or a label with its value.
_OWN_LINE = re.compile(
    r"\s*(?:[-*+・●○◆■•※>|①-⑳]|[(（]?[0-9０-９一二三四五六七八九十]{1,2}[.．)）\u3000 ]"
    r"|[^。：:]{1,20}[：:])"
)
_WHOLE = re.compile(r"[。！？.!?：:」』）)]\s*$")
#: Most lines of a wrapped sentence; columns of a full line (two per Japanese character).
_WRAPS, _FULL = 6, 56
#: A line is a heading if the next is this many times longer: 「出社するとき」.
_HEADING = 3


def unwrapped(lines: Sequence[str]) -> list[str]:
    """The lines of a paragraph, with sentences broken by line ends rejoined.

    >>> unwrapped(["上限を1キロにつき", "20円から25円にします。", "・現金", "・振込"])
    ['上限を1キロにつき20円から25円にします。', '・現金', '・振込']
    >>> unwrapped(["出社するとき", "休業中に出社するときは、届を出し、承認を受ける。"])
    ['出社するとき', '休業中に出社するときは、届を出し、承認を受ける。']
    """
    found: list[str] = []
    at = 0
    while at < len(lines):
        near = range(at, min(at + _WRAPS, len(lines)))
        end = next((n for n in near if _WHOLE.search(lines[n])), at)
        part = lines[at : end + 1]
        if not all(map(_breaks, part, part[1:])):
            part = part[:1]
        found.append((" " if part[0].isascii() else "").join([part[0], *map(str.strip, part[1:])]))
        at += len(part)
    return found


def _breaks(line: str, after: str) -> bool:
    """Whether a sentence continues on the next line: mid-word, or the line is full."""
    if _OWN_LINE.match(after):
        return False
    if line.isascii():
        return after[:1].islower() or len(line) >= _FULL
    if not line.endswith("、") and len(after) > _HEADING * len(line):
        return False
    return bool(_OPEN_END.search(line) or _OPEN_START.match(after)) or 2 * len(line) >= _FULL


_OPEN_END, _OPEN_START = re.compile("[ぁ-ん、]$"), re.compile("[ぁ-ん、。]")


_CLAUSE = re.compile(r"^\s*[(（][0-9０-９一二三四五六七八九十]{1,2}[)）]\s*[^。、:：]{1,20}$")


#: A paragraph of an article: 「2　同じ理由による…」.
_PARAGRAPH = re.compile(r"^[0-9０-９]{1,2}[\u3000 ]\S")


def _clause(lines: Sequence[str], at: int) -> bool:
    """Whether a line such as (2) 手続 heads the text below; consecutive such lines are a list."""
    around = (lines[at - 1] if at else "", lines[at + 1] if at + 1 < len(lines) else "")
    listed = any(_CLAUSE.match(line) for line in around) or not around[1].strip()
    return _CLAUSE.match(lines[at]) is not None and not listed


def _titled(text: str) -> tuple[str, str]:
    """(title, the rest). A title is a short first line, alone and not a sentence."""
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


#: Japanese headings, also without a space after the marks.
_TIGHT_HEADING = re.compile(r"^( {0,3}#{1,6})(?=[^#\s])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
#: Admonitions of some renderers (`:::message`).
_BOX = re.compile(r"^ {0,3}:{3,}.*$")
#: Limit on a paragraph's marks times its length: the parser may scan back for each mark.
_MARKS = re.compile(r"[<\[\]!*_`&~]")
_STEPS = 20_000_000


def read_markdown(text: str, most: int) -> Read:
    """Read as rendered: embedded HTML counts; link definitions and titles are skipped.

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
    passages = [*stated_facts(meta, body), *read.passages]
    return Read(passages, title if isinstance(title, str) else read.title, meta, read.hidden)


@cache
def _renderer() -> MarkdownIt:
    """CommonMark with GitHub tables, definitions and footnotes; keeps line ends."""
    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    return parser.use(deflist_plugin).use(footnote_plugin, inline=False).use(tasklists_plugin)
