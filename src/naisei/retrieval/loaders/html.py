"""HTML: headings, paragraphs, lists, tables; what a reader does not see is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import Blocks, Read, one_line
from naisei.retrieval.loaders.html_hidden import TooIntricate, drop_hidden
from naisei.retrieval.loaders.html_table import read_table

__all__ = ["read_html"]

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body caption center dd details div dl dt fieldset
        figcaption figure footer form header hr html legend li main ol p pre section summary
        table td th tr ul""",
    )
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
#: `<meta name=…>` that is kept as the document's own data.
_META = frozenset({"date", "author", "department", "category", "version", "keywords", "effective"})


_TAG = re.compile(r"<(/?)([a-z][^\s/<>]*)[^<>]*", re.I)
#: Elements that end by themselves: a row of them does not nest.
_SHALLOW = frozenset(
    re.findall(
        r"\w+",
        """area base body br caption col colgroup dd dt embed head hr html img input li link meta
        optgroup option p param rp rt source tbody td tfoot th thead tr track wbr""",
    )
)
#: Of drawings, where `<path/>` is closed; and anchors, of which none is within another.
_DRAWN = frozenset(
    re.findall(r"\w+", "a path circle rect line polyline polygon ellipse use stop image text g")
)
#: The parser's time grows with the square of the depth.
_DEEPEST = 2000


def _depth(text: str) -> int:
    """How deep elements nest at most. `<div/>` closes nothing."""
    depth = deepest = 0
    for found in _TAG.finditer(text):
        name = found[2].lower()
        if found[1]:
            depth = max(0, depth - (name not in _SHALLOW))
        elif name not in _SHALLOW and not (name in _DRAWN and found[0].endswith("/")):
            depth += 1
            deepest = max(deepest, depth)
    return deepest


def read_html(text: str, most: int) -> Read:
    """Raises:
    TooIntricate: elements nest too deep, or there are too many style rules for them.
    TooLong: more characters than `most`.
    """
    depth = _depth(text)
    if depth > _DEEPEST:
        raise TooIntricate(f"{depth} levels")
    tree = LexborHTMLParser(text)
    meta = _meta(tree)
    title = one_line(node.text()) if (node := tree.css_first("title")) is not None else ""
    drop_hidden(tree, depth)
    blocks = Blocks(most)
    held: list[str] = []

    def flush(prefix: str = "") -> None:
        lines = (one_line(line) for line in "".join(held).split("\x00"))
        if said := "\n".join(line for line in lines if line):
            blocks.text(prefix + said)
        held.clear()

    item = ""
    for node, entering in _walk(tree.body):
        tag = node.tag or ""
        if tag == "-text":
            held.append(re.sub(r"\s+", " ", node.text(deep=False) or ""))
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
        elif tag in _BLOCKS:
            flush(item)
            item = "- " if tag == "li" and entering else ""
    flush(item)
    # A page's own heading, without the name of the site that is put after it in the tab.
    heads = tree.css("h1")
    own = one_line(heads[0].text()) if len(heads) == 1 else ""
    return Read(blocks.passages, own or title or blocks.first, meta)


def _walk(body: LexborNode | None) -> Iterator[tuple[LexborNode, bool]]:
    """(node, entering) in reading order; headings and tables are not entered. No recursion: a
    page may nest as deep as it likes."""
    at = body
    while at is not None:
        yield at, True
        inside = at.tag not in _HEADINGS and at.tag != "table"
        if inside and at.child is not None:
            at = at.child
            continue
        while at is not None:
            if at.tag != "-text":
                yield at, False
            if at.next is not None and at.mem_id != body.mem_id:  # type: ignore[union-attr]
                at = at.next
                break
            at = at.parent
            if at is None or at.mem_id == body.mem_id:  # type: ignore[union-attr]
                return


def _meta(tree: LexborHTMLParser) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").lower()
        if name in _META and (content := node.attributes.get("content")):
            found[name] = content.strip()
    return found
