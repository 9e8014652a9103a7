"""Whether a person sees a text of a page, as a browser draws it when it was just opened.

Looked at: `hidden`, display, visibility, opacity, the size of letters, their colour against a
ground that is known, places off the screen, boxes without room. In doubt a text is seen: no
sentence that people read may be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from selectolax.lexbor import LexborHTMLParser, LexborNode
from tinycss2 import color5  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import TooIntricate, leave_out
from naisei.retrieval.loaders.cascade import Cascade
from naisei.retrieval.types import Hidden

#: Red, green, blue and opacity, 0 to 1.
_RGBA = tuple[float, float, float, float]
_WHITE: _RGBA = (1.0, 1.0, 1.0, 1.0)
_BLACK: _RGBA = (0.0, 0.0, 0.0, 1.0)
#: Pixels: letters that nobody can read; a box without room; so far that nobody scrolls there.
_SMALLEST, _NO_ROOM, _FAR = 4.0, 2.5, -1_000.0
_WIDE, _HIGH = 1280.0, 800.0
_FAINT = 0.05
#: Of a channel: white and #f4f4f4 are alike, white and #eee are not.
_NEAR = 0.045
DEEPEST = 2_000
#: No part of what the page says, whatever its style.
_NEVER = (
    "script, style, template, noscript, noframes, noembed, iframe, object[data], embed, canvas, "
    "audio, video, select, datalist, input, nav, progress, meter, rp, annotation, annotation-xml, "
    "svg title, svg desc, svg metadata, svg mask, svg pattern, svg marker, svg clipPath, mphantom, "
    "rt, rtc"
)
_DEFINITIONS = ", svg defs, svg symbol"
_INLINE = frozenset(
    re.findall(
        r"\w+",
        """a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small
        span strike strong sub sup time tt u var""",
    )
)
#: Elements whose colours the browser chooses.
_COLOURED = frozenset({"a", "mark", "button", "textarea", "svg"})
#: Attributes that are style: HTML Standard 15.3.
_PRESENTED = {
    "background": "background-image",
    "bgcolor": "background-color",
    "color": "color",
    "text": "color",
}
_UNSET = frozenset({"", "inherit", "unset", "revert", "revert-layer"})
_NONE = _UNSET | {"none", "initial", "normal", "static"}
#: What lets letters have another colour than their own, and stand on another ground than that of
#: the element around them.
_RECOLOURED = (
    *("text-shadow", "mix-blend-mode", "filter", "-webkit-text-stroke"),
    "-webkit-text-fill-color",
)
_APART = ("position", "grid-area", "grid-row", "grid-column", "background-image")
#: Sheets that paint grounds which are not known here.
_PAINTED = re.compile(r"@import|z-index\s*:\s*-|:(?:before|after)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Look:
    """How the text in an element is drawn. gone, cut: why none of it is seen; `cut` does not hold
    for what is placed elsewhere. color, ground: `None` where they are not known."""

    gone: str = ""
    cut: str = ""
    visible: bool = True
    opacity: float = 1.0
    size: float = 16.0
    color: _RGBA | None = _BLACK
    ground: _RGBA | None = _WHITE

    def hides(self) -> str:
        """Why its text is not seen; empty if it is."""
        if self.gone or self.cut:
            return self.gone or self.cut
        if not self.visible:
            return "visibility: hidden"
        if self.opacity < _FAINT:
            return "opacity: 0"
        if self.size < _SMALLEST:
            return f"font-size: {self.size:.3g}px"
        if self.color is None or self.ground is None:
            return ""
        if self.color[3] < _FAINT:
            return "color: transparent"
        near = max(abs(a - b) for a, b in zip(self.color, self.ground[:3], strict=False)) < _NEAR
        return "color like the background" if near else ""


def drop_hidden(tree: LexborHTMLParser) -> list[Hidden]:
    """Takes out what is not seen; what was taken out, with the means that hid it. Comments are no
    text anyway.

    Raises:
        TooIntricate: elements nest too deep, or very many style rules for them.
    """
    hidden: list[Hidden] = []
    depth = deepest = 0
    for _, entering in walk(tree.root):
        depth += 1 if entering else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise TooIntricate(f"{deepest} levels")
    cascade = Cascade(tree, deepest)
    sheets = "".join(sheet.text(deep=True) for sheet in tree.css("style"))
    if "@import" in sheets:
        leave_out(hidden, "@import", "a style sheet that was not followed")
    sheets += "".join(str(n.attributes["style"]) for n in tree.css("[style*='z-index']"))
    linked = tree.css_first("link[rel~=stylesheet i]") is not None
    ground = None if linked or _PAINTED.search(sheets) else _WHITE
    for node in tree.css(_NEVER + ("" if tree.css_first("use") else _DEFINITIONS)):
        node.decompose()
    texts = list(_texts(tree, cascade, _Look(ground=ground)))
    for why, group in groupby(texts, key=itemgetter(1)):
        nodes = [node for node, _ in group] if why else []
        leave_out(hidden, why, " ".join(node.text(deep=False) or "" for node in nodes[:50]))
        for node in nodes:
            node.decompose()
    return hidden


def walk(
    root: LexborNode | None, closed: frozenset[str] = frozenset()
) -> Iterator[tuple[LexborNode, bool]]:
    """(node, entering) in reading order; what is in a `closed` element is passed over. No
    recursion: a page may nest as deep as it likes."""
    at = root
    while root is not None and at is not None:
        yield at, True
        if at.child is not None and at.tag not in closed:
            at = at.child
            continue
        while at is not None:
            yield at, False
            if at.mem_id == root.mem_id:
                return
            if at.next is not None:
                at = at.next
                break
            at = at.parent


def _texts(
    tree: LexborHTMLParser, cascade: Cascade, page: _Look
) -> Iterator[tuple[LexborNode, str]]:
    """Each text that is more than spaces, with why it is not seen."""
    stack = [page]
    for node, entering in walk(tree.root):
        if node.tag != "-text" and entering:
            stack.append(_inside(node, stack[-1], cascade))
        elif node.tag != "-text":
            stack.pop()
        elif entering and (node.text(deep=False) or "").strip():
            yield node, stack[-1].hides()


def _inside(node: LexborNode, outer: _Look, cascade: Cascade) -> _Look:
    """How the text in an element is drawn, given that of the element around it."""
    if outer.gone:
        return outer
    tag = node.tag or ""
    given = _of_attributes(tag, node.attributes) | cascade.of(node)
    if tag in _COLOURED and "color" not in given:
        outer = replace(outer, color=None)
    if not given:
        return outer
    if "line-through" in given.get("text-decoration", ""):
        return replace(outer, gone="struck out")
    if (display := given.get("display", "")) in ("none", "table-column", "table-column-group"):
        return replace(outer, gone=f"display: {display}")
    if given.get("content-visibility") == "hidden":
        return replace(outer, gone="content-visibility: hidden")
    if _asked(given, "animation") or _asked(given, "animation-name"):
        return _Look(color=None, ground=None)  # its frames may declare anything
    look = _painted(given, _sized(given, outer))
    placed = given.get("position") in ("absolute", "fixed")
    block = tag not in _INLINE or placed or display != "" or "float" in given
    if placed or (look.cut == _OFF_SCREEN and "text-indent" in given):
        look = replace(look, cut="")
    if _far(given, look.size, block=block):
        return replace(look, cut=_OFF_SCREEN)
    no_box = not block or tag in ("td", "th", "body", "html") or display.startswith("table")
    return look if no_box or not _roomless(given, look) else replace(look, cut="overflow: hidden")


_OFF_SCREEN = "off-screen"


def _asked(given: Mapping[str, str], name: str) -> bool:
    """Whether a property is declared as something, known or not."""
    return given.get(name, "none") not in _NONE


def _of_attributes(tag: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
    """What the browser's own sheet and attributes declare."""
    given: dict[str, str] = {}
    closed = "popover" in attributes or (tag == "dialog" and "open" not in attributes)
    if closed or "hidden" in attributes:
        given["display"] = "none"
    if tag in ("del", "s", "strike"):
        given["text-decoration"] = "line-through"
    for name, value in attributes.items():
        if value and name in _PRESENTED:
            value = value.strip().lower()
            given[_PRESENTED[name]] = re.sub(r"^([0-9a-f]{6})$", r"#\1", value)
    return given


def _sized(given: Mapping[str, str], look: _Look) -> _Look:
    """Size, visibility and opacity."""
    if (size := given.get("font-size", "")) not in _UNSET:
        pixels = _length(size, look.size, look.size)
        look = replace(look, size=16.0 if pixels is None or pixels < 0 else pixels)
    if (shown := given.get("visibility", "")) not in _UNSET:
        look = replace(look, visible=shown not in ("hidden", "collapse"))
    if share := re.fullmatch(r"((?:\d*\.)?\d+)(%?)", given.get("opacity", "")):
        opacity = float(share[1]) / (100.0 if share[2] else 1.0)
        look = replace(look, opacity=look.opacity * min(1.0, opacity))
    return look


def _painted(given: Mapping[str, str], look: _Look) -> _Look:
    """The colours of the letters and of what is behind them."""
    color, ground = look.color, look.ground
    if (shade := given.get("color", "")) not in _UNSET | {"currentcolor"}:
        color = _BLACK if shade == "initial" else _colour(shade)
    lifted = given.get("margin-top", "").startswith("-") or "inset" in given.get("box-shadow", "")
    if lifted or any(_asked(given, name) for name in _APART):
        ground = None
    if (shade := given.get("background-color", "")) not in _UNSET | {"initial", "transparent"}:
        back = _colour(shade)
        opaque = back is not None and back[3] == 1.0 and not _asked(given, "background-image")
        ground = back if opaque else None
    filled = "text" in (given.get("background-clip"), given.get("-webkit-background-clip"))
    dark = "dark" in given.get("color-scheme", "")
    if filled or dark or any(_asked(given, name) for name in _RECOLOURED):
        ground = None
    return replace(look, color=color, ground=ground)


def _far(given: Mapping[str, str], em: float, *, block: bool) -> bool:
    """Whether it is moved to where nobody looks. em: the size of its letters. block: no part of a
    line."""

    def size(name: str, whole: float = _WIDE) -> float:
        return _length(given.get(name, ""), em, whole) or 0.0

    position = given.get("position", "static")
    moved = [size("margin-left") + size("padding-left")]
    if block:
        shift = _TRANSLATED.search(given.get("transform", ""))
        moved += [size("margin-top"), size("text-indent")]
        moved += [(_length(shift[1], em, 0.0) or 0.0)] if shift else []
    if position in ("absolute", "fixed", "relative"):
        moved += [size("left"), size("top", _HIGH), -size("right"), -size("bottom", _HIGH)]
    below = position == "fixed" and (size("left") >= _WIDE or size("top", _HIGH) >= _HIGH)
    return below or min(moved) <= _FAR


_TRANSLATED = re.compile(r"translate(?:x|3d)?\(\s*([^,()\s]+)")


def _roomless(given: Mapping[str, str], look: _Look) -> bool:
    """Whether a box cuts off all that is in it."""
    for name, value in given.items():
        if name.startswith(("min-", "flex", "padding")) and value not in ("0", "0px"):
            return False  # may give it room
    for axis, side in (("overflow-x", "width"), ("overflow-y", "height")):
        cuts = given.get(axis) in ("hidden", "clip", "auto", "scroll")
        for value in (given.get(side, ""), given.get(f"max-{side}", "")) if cuts else ():
            pixels = None if value.endswith("%") else _length(value, look.size, 0.0)
            if pixels is not None and pixels <= _NO_ROOM:
                return True
    return False


_LENGTH = re.compile(r"([+-]?(?:\d*\.)?\d+)([a-z%]*)")
_UNITS = {"px": 1.0, "pt": 4 / 3, "cm": 37.8, "rem": 16.0, "vw": 12.8, "vh": 8.0}


def _length(value: str, em: float, whole: float) -> float | None:
    """Pixels; `None` where that is not known. em: the size of the letters; whole: what per cent
    are of."""
    if (found := _LENGTH.fullmatch(value)) is None:
        return None
    size = float(found[1])
    unit = {**_UNITS, "em": em, "%": whole / 100}.get(found[2])
    return 0.0 if size == 0.0 else None if unit is None else size * unit


def _colour(value: str) -> _RGBA | None:
    """`None` where it is none that is known."""
    try:
        red, green, blue, alpha = color5.parse_color(value).to("srgb")
        return float(red), float(green), float(blue), float(alpha)
    # Spaces that tinycss2 does not convert; functions whose arguments it does not check.
    except (NotImplementedError, AttributeError, TypeError, ValueError, IndexError):
        return None
