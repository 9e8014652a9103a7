"""HTML: headings, paragraphs, lists, tables; what a reader does not see is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.blocks import BLOCK_ELEMENTS, Blocks, Read, one_line

__all__ = ["TooIntricate", "drop_hidden", "read_html", "read_table"]


#: Never shown, or no part of what the page says.
_NEVER = (
    "script, style, template, noscript, iframe, object, embed, svg, canvas, audio, video, "
    "select, datalist, dialog:not([open]), input, nav, [hidden]"
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ZERO = r"0*(?:\.0+)?(?:px|pt|em|rem|%)?"
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    rf"|opacity\s*:\s*{_ZERO}\s*(?:;|!|$)|font-size\s*:\s*{_ZERO}\s*(?:;|!|$)"
    r"|color\s*:\s*transparent|content-visibility\s*:\s*hidden"
    r"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*(?:0|1px)|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|transform\s*:\s*scale\(\s*0(?:\.0+)?\s*[,)])",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(rf"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*{_ZERO}\s*(?:;|!|$)", re.I)
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.I)
_WHITE = (
    r"(?:#fff(?:f(?:ff)?(?:ff)?)?\b|#f[c-f]f[c-f]f[c-f]\b|white\b|snow\b|"
    r"rgba?\(\s*25[2-5]\s*,?\s*25[2-5]\s*,?\s*25[2-5]|hsla?\([^,)]*,[^,)]*,\s*100%)"
)
_WHITE_TEXT = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE}", re.IGNORECASE)
_GROUND = re.compile(r"(?:^|;)\s*background(?:-color|-image)?\s*:\s*([^;]+)", re.IGNORECASE)
_LIGHT = re.compile(rf"^\s*(?:{_WHITE}|transparent|none|inherit|initial)", re.IGNORECASE)
_RULES, _SHEET = 2000, 300_000
#: Of one rule: declarations that are looked at, and the length of each.
_KEPT, _DECLARED = 20, 200
#: Steps from an element outwards that rules may take: some seconds.
_STEPS = 20_000_000


class TooIntricate(ValueError):
    """A page that is meant to be read is not nested so deep, nor has so much style."""


def drop_hidden(tree: LexborHTMLParser, depth: int) -> None:
    """Takes out what is not shown: by element, attribute, style attribute or style sheet in the
    page; white text that has no dark ground of its own or round it; comments are no text anyway.

    depth: how deep its elements nest.

    Raises:
        TooIntricate: very many style rules for the elements there are.
    """
    _mark_by_sheet(tree, depth)
    for node in tree.css(_NEVER):
        node.decompose()
    grounds: dict[int, bool] = {}
    for node in tree.css("[style], font[color]"):
        if node.parent is not None and _hides(node, grounds):
            node.decompose()


def _mark_by_sheet(tree: LexborHTMLParser, depth: int) -> None:
    """Writes the page's style rules that could hide something into style attributes."""
    found: dict[int, tuple[LexborNode, list[str]]] = {}
    rules = dict.fromkeys(_rules(tree))
    parts = sum(1 + selector.count(",") for selector, _ in rules)
    if parts and parts * len(tree.css("*")) * (10 + depth) > _STEPS:
        raise TooIntricate(f"{len(rules)} style rules")
    for selector, declared in rules:
        for node in _selected(tree, selector):
            found.setdefault(node.mem_id, (node, []))[1].append(declared)
    for node, said in found.values():
        own = node.attributes.get("style") or ""
        node.attrs["style"] = ";".join([*reversed(said), own])


def _rules(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """(selector, declarations) of those that could hide something."""
    number = 0
    for sheet in tree.css("style"):
        for rule in _CSS_COMMENT.sub("", sheet.text()[:_SHEET]).split("}"):
            selector, _, declared = rule.rpartition("{")
            number += 1
            if number > _RULES:
                return
            # Only what matters: it is written out again for every element.
            kept = [one[:_DECLARED] for one in declared.split(";") if _matters(one)]
            if kept and any(not _CUT_OFF.search(one) for one in kept):
                # What stands before the selector is an @media that it is within.
                yield selector.rpartition("{")[2].strip(), ";".join(kept[-_KEPT:])


def _matters(declared: str) -> bool:
    looked_for = (_HIDING, _NO_SIZE, _CUT_OFF, _WHITE_TEXT, _GROUND)
    return any(pattern.search(declared) for pattern in looked_for)


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    if not selector or ":" in selector:
        return []  # hover, print and the like: not what a reader sees at first
    try:
        return tree.css(selector)
    except Exception as error:  # the parser's own class for a selector it does not know
        if "select" in f"{type(error).__name__} {error}".lower():
            return []
        raise


def _hides(node: LexborNode, grounds: dict[int, bool]) -> bool:
    style = node.attributes.get("style") or ""
    if _HIDING.search(style) or (_NO_SIZE.search(style) and _CUT_OFF.search(style)):
        return True
    color = node.attributes.get("color") or ""
    if color:
        style = f"{style};color:{color}"
    return bool(_WHITE_TEXT.search(style)) and not _on_dark(node, grounds)


def _on_dark(node: LexborNode, grounds: dict[int, bool]) -> bool:
    """Whether the nearest ground that is set, here or round it, is not white. grounds: what is
    known of other elements, by identity; what is found out is added."""
    at: LexborNode | None = node
    inside: list[int] = []
    dark = False
    while at is not None and at.tag != "-document":
        if at.mem_id in grounds:
            dark = grounds[at.mem_id]
            break
        inside.append(at.mem_id)
        style = at.attributes.get("style") or ""
        ground: str | None = at.attributes.get("bgcolor")
        if found := _GROUND.findall(style):
            ground = found[-1]
        if ground:
            dark = _LIGHT.match(ground) is None
            break
        at = at.parent
    grounds.update(dict.fromkeys(inside, dark))
    return dark


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
        elif tag in BLOCK_ELEMENTS:
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
