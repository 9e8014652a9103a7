"""HTML: headings, paragraphs, lists, tables; what a person does not see is left out
(`naisei.retrieval.loaders.visible`)."""

from __future__ import annotations

import re

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import BLOCK_ELEMENTS, Blocks, Read, one_line
from naisei.retrieval.loaders.cascade import SHADOW, TooIntricate
from naisei.retrieval.loaders.visible import DEEPEST, drop_hidden, walk

_WIDEST, _LONGEST = 100, 20_000


def read_table(table: LexborNode) -> tuple[list[list[str]], bool]:
    """(rows of cells, whether the first is a header)."""
    rows: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}
    header: bool | None = None
    any_head = table.css_first("th") is not None
    for line in table.css("tr"):
        if len(rows) >= _LONGEST or not _own(line, table):
            continue
        cells = [cell for cell in line.iter() if cell.tag in ("td", "th")]
        if header is None and cells:
            heads = all(cell.tag == "th" for cell in cells)
            header = (
                heads or not any_head or (line.parent is not None and line.parent.tag == "thead")
            )
        rows.append(_cells(cells, down))
    return rows, bool(header)


def _cells(cells: list[LexborNode], down: dict[int, tuple[int, str]]) -> list[str]:
    """down: column → (rows still to come, text) of the cells that reach into this row."""
    found: list[str] = []

    def reaching() -> None:
        while len(found) in down:
            left, text = down.pop(len(found))
            if left > 1:
                again[len(found)] = (left - 1, text)
            found.append(text)

    again: dict[int, tuple[int, str]] = {}
    for cell in cells:
        reaching()
        text = one_line(" ".join(cell.text(separator=" ").split()))
        for _ in range(_span(cell, "colspan", _WIDEST)):
            if (rows := _span(cell, "rowspan", _LONGEST)) > 1:
                again[len(found)] = (rows - 1, text)
            found.append(text)
        if len(found) >= _WIDEST:
            break
    reaching()
    down.clear()
    down.update(again)
    return found


def _span(cell: LexborNode, name: str, most: int) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(most, max(1, int(value))) if value.isascii() and value.isdigit() else 1


def _own(line: LexborNode, table: LexborNode) -> bool:
    """Whether the row is of this table and not of one inside it."""
    at = line.parent
    while at is not None and at.tag != "table":
        at = at.parent
    return at is not None and at.mem_id == table.mem_id


_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_CLOSED = frozenset({*_HEADINGS, "table"})
#: `<meta name=…>` that is kept as the document's own data.
_META = frozenset({"date", "author", "department", "category", "version", "keywords", "effective"})


#: Elements that must be closed: the parser's time grows with the square of how deep they nest.
_NESTING = re.compile(
    "<(/?)(?:article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|header|main"
    r"|menu|nav|ol|section|table|ul)(?![\w-])",
    re.I,
)
#: A shadow tree that the page declares: the parser keeps other templates apart.
_SHADOW = re.compile(r"<template\b(?=[^<>]*\bshadowrootmode\s*=)", re.I)


def read_html(text: str, most: int) -> Read:
    """Raises:
    TooIntricate: elements nest too deep, or there are too many style rules for them.
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
    blocks = Blocks(most)
    held: list[str] = []

    def flush(prefix: str = "") -> None:
        lines = (one_line(line) for line in "".join(held).split("\x00"))
        if said := "\n".join(line for line in lines if line):
            blocks.text(prefix + said)
        held.clear()

    item, kept = "", 0
    for node, entering in walk(tree.body, _CLOSED):
        tag = node.tag or ""
        if tag == "-text" and entering:
            text = node.text(deep=False) or ""
            held.append(text.replace("\n", "\x00") if kept else re.sub(r"\s+", " ", text))
        elif tag == "br" and entering:
            held.append("\x00")
        elif tag in _HEADINGS and entering:
            flush(item)
            blocks.heading(_HEADINGS[tag], node.text(separator=" "))
        elif tag == "table" and entering:
            flush(item)
            caption = node.css_first("caption")
            if caption is not None:
                blocks.text(one_line(caption.text()))
            rows, header = read_table(node)
            blocks.table(rows, header=header)
        elif tag in BLOCK_ELEMENTS:
            flush(item)
            kept += (1 if entering else -1) * (tag == "pre")
            item = "- " if tag == "li" and entering else ""
    flush(item)
    # A page's own heading, without the name of the site that is put after it in the tab.
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
