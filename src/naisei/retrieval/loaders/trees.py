"""What is drawn in another place than where it stands, or not at all: shadow trees and their
slots, definitions of drawings, areas that lie over their neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from selectolax.lexbor import LexborHTMLParser, LexborNode

from naisei.retrieval.loaders.css import SCOPE

__all__ = ["drop_undrawn", "empty_clips", "with_shadow_trees"]

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
            inside = {child.attributes.get("id"), *(n.attributes.get("id") for n in child.css("[id]"))}
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
