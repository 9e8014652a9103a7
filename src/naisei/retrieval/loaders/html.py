"""HTML: headings, paragraphs, lists, tables; hidden parts are left out
(`naisei.retrieval.loaders.visible`). Other formats are converted to HTML first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import (
    BLOCK_ELEMENTS,
    BOLD,
    Blocks,
    Read,
    TooIntricate,
    one_line,
)
from naisei.retrieval.loaders.tables import Cell, grid, is_label
from naisei.retrieval.loaders.visible import DEEPEST, SHADOW, drop_hidden, walk

_WIDEST, _LONGEST = 100, 20_000
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_CLOSED = frozenset({*_HEADINGS, "table"})
#: `<meta name=…>` elements stored as the document's metadata.
_META = frozenset({"date", "author", "department", "category", "version", "keywords", "effective"})


#: Elements that need a closing tag: parsing time is quadratic in their nesting depth.
_NESTING = re.compile(
    "<(/?)(?:article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|header|main"
    r"|menu|nav|ol|section|table|ul)(?![\w-])",
    re.I,
)
#: A declarative shadow tree; the parser keeps other templates separate.
_SHADOW = re.compile(r"<template\b(?=[^<>]*\bshadowrootmode\s*=)", re.I)


def read_html(text: str, most: int) -> Read:
    """Raises:
    TooIntricate: elements nest too deeply, or too many style rules.
    TooLong: more characters than `most`.
    """
    depth = 0
    for found in _NESTING.finditer(text):
        depth = max(0, depth - 1) if found[1] else depth + 1
        if depth > DEEPEST:
            raise TooIntricate(f"{depth} levels")
    tree = LexborHTMLParser(_SHADOW.sub(f"<{SHADOW}", text))
    meta = _meta(tree)
    title = one_line(node.text()) if (node := tree.css_first("head > title")) is not None else ""
    hidden = drop_hidden(tree)
    _inline_notes(tree)
    _drop_menus(tree)
    blocks = Blocks(most)
    _Reader(blocks).read(tree.body)
    if not blocks.passages:
        blocks.text(blocks.first)  # a page with only a heading
    # The page's own heading, without the site name appended to it in the tab title.
    heads = tree.css("h1")
    own = one_line(heads[0].text()) if len(heads) == 1 else ""
    return Read(blocks.passages, own or title or blocks.first, meta, hidden)


def _meta(tree: LexborHTMLParser) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").lower()
        if name in _META and (content := node.attributes.get("content")):
            found[name] = content.strip()
    return found


#: Longer notes are not moved.
_NOTE = 200
_BACK = re.compile(r"[\s↩↑︎]+$|^\W{0,2}\d{1,3}\W{0,2}\s")


def _inline_notes(tree: LexborHTMLParser) -> None:
    """Move footnotes to their references."""
    refs = tree.css("sup a[href^='#'], a.footnote-reference[href^='#'], a[role='doc-noteref']")
    named = {node.attributes.get("id"): node for node in tree.css("[id]")} if refs else {}
    placed: list[LexborNode] = []
    for ref in refs:
        note = named.get((ref.attributes.get("href") or "")[1:])
        at = ref.parent if ref.parent is not None and ref.parent.tag == "sup" else ref
        said = _BACK.sub("", one_line(note.text(separator=" "))) if note is not None else ""
        if note is not None and 1 < len(said) <= _NOTE and note.tag in ("li", "p", "div", "aside"):
            at.replace_with(f"（注：{said}）")
            placed.append(note)
    for note in placed:
        note.decompose()


def _drop_menus(tree: LexborHTMLParser) -> None:
    """Remove lists that contain only links, unless the page has nothing else."""
    menus = [node for node in tree.css("ul, ol") if _only_links(node)]
    if menus and tree.body is not None:
        whole = len("".join((tree.body.text() or "").split()))
        if whole > sum(len("".join((node.text() or "").split())) for node in menus):
            for node in menus:
                node.decompose()


def _only_links(node: LexborNode) -> bool:
    links = node.css("a[href]")
    if len(links) < 2 or any(
        (link.attributes.get("href") or "").startswith(("tel:", "mailto:", "#")) for link in links
    ):
        return False
    said = "".join((node.text() or "").split())
    return said == "".join("".join((link.text() or "").split()) for link in links)


@dataclass(slots=True)
class _Item:
    """A list item: its mark, its own lines, and nested lines."""

    mark: str
    lines: list[str] = field(default_factory=list)
    below: list[_Item] = field(default_factory=list)

    @property
    def joined_lines(self) -> str:
        whole = " ".join(self.lines)
        return whole if len(whole) <= _ONE_LINE else "\n".join(self.lines)

    @property
    def text(self) -> str:
        said = self.joined_lines
        return said if not said or _MARKED.match(said) else self.mark + said

    def rendered(self, indent: str = "") -> Iterator[str]:
        """Yield lines; a label and a short item below share one: condition, value."""
        label, values = self.text, [leaf.joined_lines for leaf in self.below if leaf.joined_lines]
        short = sum(map(len, values)) <= _ONE_LINE and not any("：" in v for v in values)
        flat = values and not any(item.below for item in self.below)
        if label and flat and short and is_label(label):
            yield f"{indent}{label}：{'、'.join(values)}"
            return
        if label.strip():
            yield indent + label.replace("\n", f"\n{indent}  ")
        for item in self.below:
            yield from item.rendered(f"{indent}  ")


_ONE_LINE = 120
_MARKED = re.compile(
    r"[・●○■□◆◇▪•※]|[(（]?[0-9０-９一二三四五六七八九十]{1,3}[)）.．]|[①-⑳]|第.{1,4}条"
)
#: A bold paragraph that is a heading.
_BOLD = re.compile(r"(?![・*※])[^。！？]{2,40}(?<![:：、])")
#: Deeper list levels are treated as one.
_DEEP = 12


class _Reader:
    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._held: list[str] = []
        self._kept = self._bold = 0
        #: Whether all pending text is bold.
        self._strong = True
        #: Open lists: next item number (`None`: unnumbered); and open items.
        self._lists: list[int | None] = []
        self._items: list[_Item] = []
        self._done: list[_Item] = []

    def read(self, body: LexborNode | None) -> None:
        for node, entering in walk(body, _CLOSED):
            tag = node.tag or ""
            if tag == "-text" and entering:
                text = node.text(deep=False) or ""
                kept = text.replace("\n", "\x00") if self._kept else re.sub(r"\s+", " ", text)
                self._held.append(kept)
                self._strong &= bool(self._bold) or not text.strip()
            elif tag == "br" and entering:
                self._held.append("\x00")
            elif tag in ("b", "strong"):
                self._bold += 1 if entering else -1
            elif tag in _HEADINGS and entering:
                self._flush()
                self._end_items()
                self._blocks.heading(_HEADINGS[tag], node.text(separator=""))
            elif tag == "table" and entering:
                self._flush()
                self._table(node)
            elif tag in BLOCK_ELEMENTS:
                self._flush()
                self._kept += (1 if entering else -1) * (tag == "pre")
                self._block(node, tag, entering)
        self._flush()
        self._end_items()

    def _flush(self) -> None:
        lines = "".join(self._held).split("\x00")
        said = lines if self._kept else [line for each in lines if (line := one_line(each))]
        self._held.clear()
        strong, self._strong = self._strong, True
        if not any(map(str.strip, said)):
            return
        if self._items:
            self._items[-1].lines += said
        elif len(said) == 1 and strong and _BOLD.fullmatch(said[0]):
            self._blocks.heading(BOLD, said[0])
        elif len(said) > 1 or not self._blocks.typed(said[0]):
            self._blocks.text("\n".join(said))

    def _block(self, node: LexborNode, tag: str, entering: bool) -> None:
        if tag in ("ul", "ol", "dl"):
            if entering:
                start = node.attributes.get("start") or "1"
                number = int(start) if start.isascii() and start.isdigit() else 1
                self._lists.append(number if tag == "ol" else None)
            elif self._lists:
                self._lists.pop()
                if tag == "dl":
                    self._close("dt")
                if not self._items:
                    self._end_items()
        elif tag == "li" and entering:
            at = self._lists[-1] if self._lists else None
            self._open("- " if at is None else f"{at}. ")
            if at is not None:
                self._lists[-1] = at + 1
        elif tag == "dt" and entering:
            self._close("dt")
            self._open("", "dt")
        elif tag == "dd" and entering:
            self._open("")
        elif tag in ("li", "dd"):
            self._close()

    def _open(self, mark: str, kind: str = "") -> None:
        item = _Item(mark) if not kind else _Term(mark)
        if len(self._items) >= _DEEP:
            self._items.pop()
        (self._items[-1].below if self._items else self._done).append(item)
        self._items.append(item)

    def _close(self, kind: str = "") -> None:
        """Close the innermost item: with `dt` only a term, else no term."""
        if self._items and (isinstance(self._items[-1], _Term) == (kind == "dt")):
            self._items.pop()
        if not self._items:
            self._end_items()

    def _end_items(self) -> None:
        """Write finished items; open items continue without the text already written."""
        for item in self._done:
            self._blocks.text("\n".join(item.rendered()))
        self._done = []
        for n, item in enumerate(self._items):
            self._items[n] = type(item)("")
            (self._items[n - 1].below if n else self._done).append(self._items[n])

    def _table(self, node: LexborNode) -> None:
        if (caption := node.css_first("caption")) is not None:
            self._end_items()
            self._blocks.text(one_line(caption.text()))
        item = self._items[-1] if self._items else None
        label = item.joined_lines if item is not None and not item.below else ""
        if item is not None and is_label(label):
            item.lines.clear()
            item.mark = ""
        else:
            label = ""
        self._end_items()
        self._blocks.table(read_table(node), item=label)


class _Term(_Item):
    """A term in a definition list."""


def read_table(table: LexborNode) -> list[list[Cell]]:
    """The table's rows; spanning cells are repeated."""
    lines = [
        [_cell(cell, line) for cell in line.iter() if cell.tag in ("td", "th")]
        for line in table.css("tr")
        if _own(line, table)
    ]
    return grid(lines[:_LONGEST])


def _cell(cell: LexborNode, line: LexborNode) -> Cell:
    head = cell.tag == "th" or (line.parent is not None and line.parent.tag == "thead")
    for each in cell.css("br, p, div, li"):
        each.insert_before(" ")
    text = one_line(" ".join(cell.text().split()))
    return Cell(text, head, _span(cell, "rowspan", _LONGEST), _span(cell, "colspan", _WIDEST))


def _span(cell: LexborNode, name: str, most: int) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(most, max(1, int(value))) if value.isascii() and value.isdigit() else 1


def _own(line: LexborNode, table: LexborNode) -> bool:
    """Whether the row belongs to this table, not a nested one."""
    at = line.parent
    while at is not None and at.tag != "table":
        at = at.parent
    return at is not None and at.mem_id == table.mem_id
