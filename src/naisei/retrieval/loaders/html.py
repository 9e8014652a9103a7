"""HTML: headings, paragraphs, lists, tables; what a person does not see is left out.

What is seen is computed for each text, as a browser would draw the page when it was just opened:
nothing is hovered over or clicked, no script has run. What has to be opened first (`<details>`)
counts as seen. Where only a layout could tell, text is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import NamedTuple

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import BLOCK_ELEMENTS, Blocks, Read, leave_out, one_line
from naisei.retrieval.loaders.css import Cascade, TooIntricate
from naisei.retrieval.loaders.css_values import colour, expanded, functions, resolved, seconds
from naisei.retrieval.loaders.look import Look, drawn
from naisei.retrieval.loaders.trees import (
    DRAWN,
    beside_lids,
    drop_undrawn,
    empty_clips,
    paper_of,
    undrawn,
    with_shadow_trees,
)
from naisei.retrieval.types import Hidden

#: No part of what the page says, whatever its style.
_NEVER = (
    "script, style, template, noscript, noframes, noembed, iframe, object[data], embed, canvas, "
    "audio, video, select, datalist, input, nav, progress, meter, rp, annotation, annotation-xml, "
    "marquee[width='0'], "
    "svg title, svg desc, svg metadata, svg mask, svg pattern, svg marker, svg clipPath, mphantom"
)


def drop_hidden(tree: LexborHTMLParser, depth: int) -> list[Hidden]:
    """Takes out what is not seen; what was taken out, with the means that hid it. Comments are no
    text anyway. depth: how deep its elements nest.

    Raises:
        TooIntricate: very many style rules for the elements there are.
    """
    hidden: list[Hidden] = []
    for how, text in drop_undrawn(tree):
        leave_out(hidden, how, text)
    clips = empty_clips(tree)
    imported = any("@import" in sheet.text(deep=True) for sheet in tree.css("style"))
    cascade = Cascade(tree, depth)
    if imported:
        leave_out(hidden, "@import", "a style sheet that was not followed")
    for node in tree.css(_NEVER):
        node.decompose()
    doomed: list[LexborNode] = []
    texts: dict[str, list[str]] = {}
    why = ""
    for node, look in _looks(tree, cascade, clips):
        said = look.hides()
        if said != why and texts:
            _tell(hidden, texts)
        why = said
        if said:
            doomed.append(node)
            texts.setdefault(said, []).append(node.text(deep=False) or "")
    _tell(hidden, texts)
    for node in doomed:
        node.decompose()
    return hidden


def _tell(hidden: list[Hidden], texts: dict[str, list[str]]) -> None:
    for how, parts in texts.items():
        leave_out(hidden, how, " ".join(parts[:50]))
    texts.clear()


def _looks(
    tree: LexborHTMLParser, cascade: Cascade, clips: Set[str]
) -> Iterator[tuple[LexborNode, Look]]:
    """Each text that is more than spaces, with how it is drawn. No recursion: a page may nest as
    deep as it likes."""
    root = tree.root
    if root is None:
        return
    link = (tree.body.attributes.get("link") if tree.body is not None else None) or "#0000ee"
    page = _Page(cascade, clips, link, {})
    stack = [Look(custom=cascade.custom or None)]
    at: LexborNode | None = root
    while at is not None:
        if at.tag == "-text":
            if (at.text(deep=False) or "").strip():
                covered = page.beside.get(at.mem_id) == "covered"
                yield at, replace(stack[-1], gone="covered") if covered else stack[-1]
        elif at.child is not None:
            stack.append(_inside(at, stack[-1], page))
            at = at.child
            continue
        while at is not None and at.next is None:
            at = at.parent
            if at is None or at.mem_id == root.mem_id:
                return
            stack.pop()
        at = at.next if at is not None else None


class _Page(NamedTuple):
    """clips: paths that leave nothing. link: colour of links. beside: elements and texts next to an
    area that lies over its container, and what it does to them."""

    cascade: Cascade
    clips: Set[str]
    link: str
    beside: dict[int, str]


def _inside(node: LexborNode, outer: Look, page: _Page) -> Look:
    """How the text in an element is drawn, given that of the element around it."""
    if outer.gone:
        return outer
    cascade, clips = page.cascade, page.clips
    said = _style(node, outer, cascade, page.link)
    custom = outer.custom
    if own := {name: value for name, value in said.items() if name.startswith("--")}:
        custom = {**(custom or {}), **own}
    tag = node.tag or ""
    alone = not said and tag not in _BY_ITSELF and tag not in DRAWN
    if alone and node.mem_id not in page.beside:
        return replace(outer, boxes=False) if outer.boxes else outer
    given = {name: _value(name, value, custom or {}) for name, value in said.items()}
    given = {name: value for name, value in given.items() if value}
    if (beside := page.beside.get(node.mem_id)) == "covered":
        return replace(outer, gone="covered")
    if beside:
        outer = replace(outer, grounds=())
    if given.get("position", "static") != "static":
        page.beside.update(beside_lids(node, cascade))
    if tag in DRAWN and undrawn(node):
        return replace(outer, gone="outside of the drawing")
    if tag == "svg" and (paper := colour(paper_of(node))):
        outer = replace(outer, grounds=(paper,), fills=outer.fills + 1)
    if (clip := _REFERENCE.fullmatch(given.get("clip-path", ""))) and clip[1] in clips:
        return replace(outer, gone="clip-path")
    return replace(drawn(node, given, outer), custom=custom)


_REFERENCE = re.compile(r"url\(\s*[\"']?#([^\"'()]*)[\"']?\s*\)")


def _value(name: str, value: str, custom: Mapping[str, str]) -> str:
    """What a declaration comes to once its variables are put in."""
    if value.startswith("@"):
        short, _, whole = value[1:].partition(" ")
        return dict(expanded(short, resolved(whole, custom).lower())).get(name, "")
    if name.startswith("--"):
        return value
    return resolved(value, custom).lower() if "var(" in value else value


#: Elements that browsers draw in a way of their own.
_BY_ITSELF = frozenset({"a", "mark", "button", "textarea", "dialog", "body", "html", "text"})
#: Attributes that are style: HTML Standard 15.3, and SVG's.
_PRESENTED = {
    "bgcolor": "background-color",
    "color": "color",
    "text": "color",
    "fill": "fill",
    "opacity": "opacity",
    "visibility": "visibility",
    "display": "display",
    "font-size": "font-size",
    "fill-opacity": "fill-opacity",
    "clip-path": "clip-path",
    "transform": "transform",
}
_SVG_STYLE = frozenset(_PRESENTED) - {"bgcolor", "color", "text"}


def _style(node: LexborNode, outer: Look, cascade: Cascade, link: str) -> dict[str, str]:
    """What is declared for an element, the browser's own sheet and attributes included."""
    tag, attributes = node.tag or "", node.attributes
    said: dict[str, str] = {}
    if attributes:
        if "hidden" in attributes:
            said["display"] = "none"
        if "popover" in attributes or (tag == "dialog" and "open" not in attributes):
            said["display"] = "none"
        svg = tag in DRAWN or tag == "textpath"
        for name, value in attributes.items():
            if value and name in _PRESENTED and (svg or name not in _SVG_STYLE):
                value = value.lower().strip()
                if re.fullmatch(r"[0-9a-f]{6}", value) and "color" in name:
                    value = f"#{value}"
                said[_PRESENTED[name]] = value
    elif tag == "dialog":
        said["display"] = "none"
    match tag:
        case "a" if "href" in attributes and outer.visible:
            said["color"] = link.lower()
        case "mark":
            said |= {"color": "#000", "background-color": "#ff0"}
        case "button":
            said |= {"color": "#000", "background-color": "#efefef"}
        case "textarea":
            said |= {"color": "#000", "background-color": "#fff"}
    said |= cascade.of(node)
    if (names := said.get("animation-name")) and names != "none":
        first, last = _frames(names, cascade)
        lasts = seconds(said.get("animation-duration", "")) or 0.0
        waits = seconds(said.get("animation-delay", "")) or 0.0
        paused = said.get("animation-play-state") == "paused"
        fill = said.get("animation-fill-mode")
        still = said.get("animation-iteration-count") == "infinite" and first == last
        slow = lasts >= _LONG and not waits > 0
        if paused or still or slow or (waits >= _LONG and fill in ("backwards", "both")):
            said |= first
        elif fill in ("forwards", "both"):
            said |= last
    return said


#: Seconds: nobody waits so long.
_LONG = 600.0


def _frames(names: str, cascade: Cascade) -> tuple[dict[str, str], dict[str, str]]:
    for name in functions(names):
        if name in cascade.frames:
            return cascade.frames[name]
    return {}, {}


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
    text = with_shadow_trees(text)
    depth = _depth(text)
    if depth > _DEEPEST:
        raise TooIntricate(f"{depth} levels")
    tree = LexborHTMLParser(text)
    meta = _meta(tree)
    title = one_line(node.text()) if (node := tree.css_first("head > title")) is not None else ""
    hidden = drop_hidden(tree, depth)
    blocks = Blocks(most)
    held: list[str] = []

    def flush(prefix: str = "") -> None:
        lines = (one_line(line) for line in "".join(held).split("\x00"))
        if said := "\n".join(line for line in lines if line):
            blocks.text(prefix + said)
        held.clear()

    item, kept = "", 0
    for node, entering in _walk(tree.body):
        tag = node.tag or ""
        if tag == "-text":
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
