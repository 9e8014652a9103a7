"""What is drawn in another place than where it stands, or not at all: shadow trees and their
slots, definitions of drawings, areas that lie over their neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.css import SCOPE, Cascade
from naisei.retrieval.loaders.css_values import colour, number

#: Elements of a drawing that hold text.
DRAWN = frozenset({"text", "tspan", "g", "svg", "foreignobject", "foreignObject"})

_TEMPLATE = re.compile(r"<(/?)template\b([^<>]*)>", re.I)
_MODE = re.compile(r"\bshadowrootmode\s*=\s*[\"']?(?:open|closed)\b", re.I)
_SHADOW = "x-shadow-tree"
_DEFINITIONS = "svg defs, svg symbol"


def with_shadow_trees(text: str) -> str:
    """The page with each declared shadow tree as an element, since the parser keeps templates
    apart."""
    if _MODE.search(text) is None:
        return text
    open_: list[bool] = []
    numbers = count(1)

    def turned(found: re.Match[str]) -> str:
        if not found[1]:
            open_.append(_MODE.search(found[2]) is not None)
            return f"<{_SHADOW} {SCOPE}={next(numbers)}>" if open_[-1] else found[0]
        return f"</{_SHADOW}>" if open_ and open_.pop() else found[0]

    return _TEMPLATE.sub(turned, text)


def drop_undrawn(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Takes out what no slot and no `<use>` draws: (how it is hidden, text)."""
    for shadow in tree.css(_SHADOW):
        number = shadow.attributes.get(SCOPE) or ""
        for sheet in shadow.css("style"):
            sheet.attrs[SCOPE] = number
        slots = {slot.attributes.get("name") or "" for slot in shadow.css("slot")}
        host = shadow.parent
        for child in list(host.iter(include_text=True)) if host is not None else []:
            slot = child.attributes.get("slot") or "" if child.tag != "-text" else ""
            if child.mem_id == shadow.mem_id or child.tag == "style" or slot in slots:
                continue
            yield "no slot", child.text(deep=True)
            child.decompose()
    used = {
        (use.attributes.get("href") or use.attributes.get("xlink:href") or "").lstrip("#")
        for use in tree.css("svg use")
    } - {""}
    for kept in tree.css(_DEFINITIONS):
        for child in list(kept.iter()) if kept.tag == "defs" else [kept]:
            inside = {
                child.attributes.get("id"),
                *(n.attributes.get("id") for n in child.css("[id]")),
            }
            if child.tag != "style" and not used & inside:
                if text := child.text(deep=True).strip():
                    yield "a drawing's definition", text
                child.decompose()


def empty_clips(tree: LexborHTMLParser) -> frozenset[str]:
    """Identifiers of the clipping paths that leave nothing."""
    found: set[str] = set()
    for clip in tree.css("clipPath[id], clippath[id]"):
        shapes = list(clip.iter())
        if all(_nothing(shape) for shape in shapes):
            found.add(clip.attributes.get("id") or "")
    return frozenset(found)


def _nothing(shape: LexborNode) -> bool:
    sizes = {
        "rect": ("width", "height"),
        "circle": ("r",),
        "ellipse": ("rx", "ry"),
    }.get(shape.tag or "", ())
    return any((shape.attributes.get(name) or "0").strip("px% ") in ("0", "0.0") for name in sizes)


def beside_lids(node: LexborNode, cascade: Cascade) -> dict[int, str]:
    """Of the elements and texts in a box that something else in it fills and covers: "covered", or
    "over" for those that lie over it, on a ground that is not known."""
    children = list(node.iter(include_text=True))
    styles = [cascade.of(child) if child.tag != "-text" else {} for child in children]
    lid = next((n for n, said in enumerate(styles) if _covers(said)), None)
    if lid is None:
        return {}
    high = _level(styles[lid])
    found: dict[int, str] = {}
    for n, (child, said) in enumerate(zip(children, styles, strict=True)):
        placed = said.get("position", "static") != "static"
        level = _level(said) if placed else -0.5
        if n != lid:
            over = level > high or (level == high and n > lid)
            found[child.mem_id] = "over" if over else "covered"
    return found


def _level(said: dict[str, str]) -> float:
    return number(said.get("z-index", "0")) or 0.0


def _covers(said: dict[str, str]) -> bool:
    """Whether an element fills the box that it is placed in, and nothing shines through."""
    if said.get("position") != "absolute":
        return False
    clear = {"transform", "translate", "clip-path", "mask-image", "filter", "visibility", "display"}
    if clear & said.keys() or said.get("opacity", "1") not in ("1", "100%"):
        return False
    zero = {side for side in ("top", "right", "bottom", "left") if said.get(side) in _ZERO}
    across = {"left", "right"} <= zero or ("left" in zero and said.get("width") == "100%")
    down = {"top", "bottom"} <= zero or ("top" in zero and said.get("height") == "100%")
    shade = colour(said.get("background-color", ""))
    return across and down and shade is not None and shade[3] > 0.95


_ZERO = ("0", "0px", "0%")


def undrawn(node: LexborNode) -> bool:
    """Whether an element of a drawing lies off its paper, or has none."""
    said = node.attributes
    if node.tag in ("text", "tspan"):
        places = [number(value) for name in ("x", "y") if (value := said.get(name))]
        return any(place is not None and place <= -100 for place in places)
    if node.tag == "g":
        return False
    return any(said.get(name) in _ZERO for name in ("width", "height"))


def paper_of(svg: LexborNode) -> str:
    """The colour of a rectangle that a drawing begins with and that fills it; else empty."""
    first = next(iter(svg.iter()), None)
    if first is None or first.tag != "rect":
        return ""
    wide, room = first.attributes.get("width") or "", svg.attributes.get("width") or ""
    fills = wide == "100%" or (number(wide) or 0.0) >= (number(room.removesuffix("px")) or 1e9)
    return (first.attributes.get("fill") or "#000") if fills else ""
