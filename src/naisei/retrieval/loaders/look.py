"""How the text in an element is drawn, from how that of the element around it is: size, colours,
place, shape, and what cuts it off; and whether anybody sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from naisei.retrieval.loaders.css import BOXED
from naisei.retrieval.loaders.css_values import (
    RGBA,
    alike,
    arguments,
    colour,
    colours_in,
    functions,
    length,
    number,
    over,
)
from naisei.retrieval.loaders.layers import Layer, layers_of, tells
from naisei.retrieval.loaders.media import SCREEN
from naisei.retrieval.loaders.shapes import NO_BOX, moved, shaped_away

_WHITE: RGBA = (1.0, 1.0, 1.0, 1.0)
_BLACK: RGBA = (0.0, 0.0, 0.0, 1.0)
#: Pixels: letters that nobody can read; text that is moved out of the page, or so far that nobody
#: scrolls there.
_SMALLEST, _AWAY, _ABOVE, _FAR = 4.0, -400.0, -300.0, 5_000.0
#: Of what is fixed: so far below the screen.
_BELOW = -150.0
_SIDES = ("top", "right", "bottom", "left")
#: Text moved up within the page goes over what stands above.
_MOVED_UP = -1_000.0
#: Opacity, and pixels of blur.
_FAINT, _BLUR = 0.05, 8.0
_INLINE = frozenset(
    re.findall(
        r"\w+",
        """a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small
        span strike strong sub sup time tt u var""",
    )
)


@dataclass(frozen=True, slots=True)
class Look:
    """How the text in an element is drawn. gone: why none of it is seen, whatever is within.
    grounds: colours behind it, none where they are not known. x, y: pixels by which it is moved.
    box: width, height, x and y of the nearest box that cuts off. fits: whether that box cuts off
    what is placed within by itself, too. lines: whether parents lay out their children as boxes."""

    gone: str = ""
    visible: bool = True
    alpha: float = 1.0
    size: float = 16.0
    color: RGBA = _BLACK
    painted: RGBA | None = None
    grounds: tuple[RGBA, ...] = (_WHITE,)
    marked: bool = False
    x: float = 0.0
    y: float = 0.0
    placed: bool = False
    fixed: bool = False
    indent: float = 0.0
    one_line: bool = False
    spacing: float = 0.0
    box: tuple[float, float, float, float] | None = None
    fits: bool = False
    clipped: str = ""
    boxes: bool = False
    lines: float = 1.2
    covered: bool = False
    layers: tuple[Layer, ...] = ()
    fills: int = 0
    masked: str = ""
    flat: bool = False
    tight: bool = False
    locked: bool = False
    custom: Mapping[str, str] | None = None

    def hides(self) -> str:
        """Why its text is not seen; empty if it is."""
        if self.gone or self.clipped or self.masked:
            return self.gone or self.clipped or self.masked
        if not self.visible:
            return "visibility: hidden"
        if self.alpha < _FAINT:
            return "opacity: 0"
        if self.size < _SMALLEST:
            return f"font-size: {self.size:.3g}px"
        if self.spacing <= -0.9 * self.size:
            return "letter-spacing"
        return self._away() or self._colour()

    def _away(self) -> str:
        right, below = SCREEN if self.fixed else (_FAR, 1e9)
        if self.locked and not self.fixed:
            below = SCREEN[1]
        x = self.x + (min(0.0, self.indent) if self.indent < _AWAY / 2 else 0.0)
        up = _ABOVE if self.placed or self.fixed else _MOVED_UP
        if x <= _AWAY or self.y <= up or x >= right or self.y >= below:
            return "off-screen"
        if self.box is not None:
            wide, high, left, top = self.box
            x, y = self.x - left, self.y - top
            indent = self.indent if self.one_line else 0.0
            wide = min(wide, SCREEN[0] - 16) if indent > SCREEN[0] / 2 else wide
            if x + indent >= wide or y >= high or x <= -max(wide, 200.0) or y <= -max(high, 100.0):
                return "clipped by overflow"
        return ""

    def _colour(self) -> str:
        if self.marked:
            return ""
        shade = self.painted or self.color
        if shade[3] < _FAINT:
            return "color: transparent"
        grounds = self.grounds
        if grounds and not any(
            tells(over(shade, ground), ground, self.layers, self.fills) for ground in grounds
        ):
            return "color like the background"
        return ""


_OF_BOXES = frozenset({"transform", "translate", "scale", "rotate", "text-indent"})


def _flows(node: LexborNode, given: Mapping[str, str], outer: Look) -> bool:
    """Whether an element is a part of lines, and no box."""
    if node.tag not in _INLINE or outer.boxes or "float" in given:
        return False
    placed = given.get("position") in ("absolute", "fixed")
    return not placed and given.get("display", "inline") in ("inline", "contents")


def drawn(node: LexborNode, given: Mapping[str, str], outer: Look) -> Look:
    """How an element's text is drawn. given: property → value, for what is declared for it."""
    if _flows(node, given, outer):  # shapes and indents are for boxes alone
        given = {name: said for name, said in given.items() if name not in _OF_BOXES}
    if away := shaped_away(given):
        return replace(outer, gone=away)
    still = given.get("position", "static") == "static"
    look = replace(outer, boxes=False, flat=False, tight=outer.tight and still)
    for change in (_size, _paint, _place, _cut):
        look = change(node, given, look, outer)
        if look.gone:
            return look
    display = given.get("display", "")
    tracks = (given.get(f"grid-template-{of}", "") for of in ("rows", "columns"))
    flat = display.endswith("grid") and any(_NO_TRACKS.fullmatch(each) for each in tracks)
    flat |= display.endswith("flex") and _px(given, "height", look, 0.0) == 0.0
    return replace(look, boxes=display.endswith(("flex", "grid")), flat=flat)


def _px(given: Mapping[str, str], name: str, look: Look, whole: float) -> float | None:
    value = given.get(name)
    return None if value is None else length(value, look.size, whole)


def _size(node: LexborNode, given: Mapping[str, str], look: Look, outer: Look) -> Look:
    if given.get("display") in ("none", "table-column", "table-column-group"):
        return replace(look, gone=f"display: {given['display']}")
    masked = outer.masked
    if secret := given.get("-webkit-text-security"):
        masked = "-webkit-text-security" if secret in ("disc", "circle", "square") else ""
    if number(given.get("font-size-adjust", "")) == 0.0:
        return replace(look, gone="font-size-adjust: 0")
    if given.get("content-visibility") == "hidden":
        return replace(look, gone="content-visibility: hidden")
    size = _px(given, "font-size", outer, outer.size)
    size = 16.0 if given.get("font-size") == "initial" else outer.size if size is None else size
    zoom = number(given.get("zoom", ""))
    shown = given.get("visibility", "")
    visible = {"visible": True, "initial": True, "hidden": False, "collapse": False}
    lines = given.get("line-height", "")
    high = length(lines, 1.0, 1.0) if lines else None
    spacing = _px(given, "letter-spacing", replace(look, size=size), 0.0)
    return replace(
        look,
        size=max(0.0, size) * (zoom if zoom else 1.0),
        visible=visible.get(shown, outer.visible),
        masked=masked,
        lines=outer.lines if high is None else high,
        spacing=outer.spacing if spacing is None else spacing,
        one_line=given["white-space"] in ("nowrap", "pre")
        if "white-space" in given
        else outer.one_line,
    )


def _paint(node: LexborNode, given: Mapping[str, str], look: Look, outer: Look) -> Look:
    """Colours, and how much shines through."""
    alpha = outer.alpha
    if (share := number(given.get("opacity", ""))) is not None:
        alpha *= min(1.0, max(0.0, share))
    for part in functions(given.get("filter", "")):
        if part.startswith("opacity("):
            alpha *= number((arguments(part) or ["1"])[0]) or 0.0
        if part.startswith("blur(") and (length(part[5:-1], look.size, 0) or 0) >= _BLUR:
            return replace(look, gone="filter: blur")
    mask = given.get("mask-image", "")
    sizes = given.get("mask-size", "") + " " + mask.partition("/")[2]
    if ("gradient(" in mask or "url(" in mask) and re.match(r"\s*0(?:px|%)?(?:\s|$)", sizes):
        return replace(look, gone="mask")
    if "gradient(" in mask and (stops := colours_in(mask)) and all(s[3] < _FAINT for s in stops):
        return replace(look, gone="mask")
    color = _shade(given.get("color", ""), outer.color, _BLACK)
    svg = node.tag in ("text", "tspan", "g", "svg")
    painted = outer.painted
    for name in ("fill",) if svg else ("-webkit-text-fill-color",):
        if name in given:
            painted = _shade(given[name], color, color)
    if svg and given.get("fill") == "none":
        painted = (0.0, 0.0, 0.0, 0.0)
    if svg and painted is None:
        painted = _BLACK
    if (share := number(given.get("fill-opacity", ""))) is not None and painted:
        painted = (*painted[:3], painted[3] * share)
    grounds = outer.grounds
    if given.get("color-scheme") == "dark" and node.tag in ("html", "body"):
        color, grounds = (1.0, 1.0, 1.0, 1.0), ((0.07, 0.07, 0.07, 1.0),)
    back = given.get("background-color")
    opaque = False
    fills = outer.fills
    image = given.get("background-image", "none")
    image = "none" if image in ("initial", "unset", "revert", "inherit") else image
    if given.get("background-clip") == "text":
        return _of_ground(given, look, outer, back, image, alpha, color)
    if back and (shade := _shade(back, color, (0.0, 0.0, 0.0, 0.0))):
        grounds = tuple(over(shade, ground) for ground in grounds or (shade,) * (shade[3] > 0.99))
        opaque = shade[3] > 0.9
        fills += opaque
    marked = outer.marked
    if image != "none":
        stops = colours_in(image) if "gradient(" in image else []
        opaque = True
        grounds = tuple(over(s, g) for s in stops for g in grounds[:4])[:16]
        fills += 1
    if BOXED in given:
        grounds = ()
    inner = given.get("box-shadow", "")
    if "inset" in inner and (shades := [s for p in functions(inner) if (s := colour(p))]):
        grounds = (shades[0],)
    shadow = given.get("text-shadow", "")
    if shadow:
        marked = shadow not in ("none", "initial") and not _unseen_shadow(shadow, grounds)
    if (stroke := given.get("-webkit-text-stroke", "")) and not stroke.startswith("0"):
        shades = [s for part in functions(stroke) if (s := colour(part)) is not None]
        marked |= bool(shades) and not all(alike(shades[0], g) for g in grounds)
    behind = (given.get("z-index") or "0").startswith("-") and outer.covered
    if behind and given.get("position", "static") != "static":
        return replace(look, gone="behind the background")
    page = node.tag in ("html", "body")
    layered = alpha < 1.0 or "z-index" in given or given.get("isolation") == "isolate"
    covered = not page and not layered and (outer.covered or opaque)
    return replace(
        look,
        alpha=alpha,
        color=color,
        painted=painted,
        grounds=grounds,
        marked=marked,
        covered=covered,
        fills=fills,
        layers=layers_of({} if page else given, outer.grounds, outer.fills, fills) + outer.layers,
    )


def _of_ground(
    given: Mapping[str, str],
    look: Look,
    outer: Look,
    back: str | None,
    image: str,
    alpha: float,
    color: RGBA,
) -> Look:
    """Letters that are filled with what is the ground elsewhere: its colours must differ."""
    shades = colours_in(image) if "gradient(" in image else []
    if not shades and back:
        shades = [_shade(back, color, (0.0, 0.0, 0.0, 0.0))]
    own = _shade(given.get("-webkit-text-fill-color", ""), color, color)
    known = image == "none" or bool(shades)
    seen = any(not alike(over(s, g), g) for s in [own, *shades] for g in outer.grounds)
    painted = own if known and not seen else outer.painted
    return replace(look, alpha=alpha, color=color, painted=painted, marked=not known or seen)


def _shade(value: str, inherited: RGBA, initial: RGBA) -> RGBA:
    if value in ("", "inherit", "currentcolor", "unset", "revert"):
        return inherited
    return initial if value in ("initial", "none") else colour(value) or inherited


def _unseen_shadow(shadow: str, grounds: tuple[RGBA, ...]) -> bool:
    shades = [s for part in functions(shadow) if (s := colour(part)) is not None]
    away = re.findall(r"(?:^|\s)(-?[\d.]+)(?:px|em|vw)", shadow)
    if any(abs(float(size)) >= -_AWAY for size in away if size.strip(".-")):
        return True
    faint = [s for s in shades if s[3] < 0.2 or all(alike(over(s, g), g) for g in grounds)]
    return bool(shades) and len(faint) == len(shades)


def _place(node: LexborNode, given: Mapping[str, str], look: Look, outer: Look) -> Look:
    """Where it is moved to."""
    position = given.get("position", "static")
    wide, high = SCREEN
    x, y, placed, fixed = outer.x, outer.y, outer.placed, outer.fixed
    clipped, box = look.clipped, look.box
    if position in ("absolute", "fixed"):
        placed = True
        if position == "fixed":
            x = y = 0.0
            fixed, clipped, box = True, "", None
        elif not look.fits:
            clipped, box = "", None
        if outer.tight and any(
            (number(given.get(side, "")) or 0.0) >= 1.0 and given.get(side, "").endswith("%")
            for side in _SIDES
        ):
            clipped = "clipped by overflow"
    if position not in ("static", "sticky"):
        left, right = _px(given, "left", look, wide), _px(given, "right", look, wide)
        top, bottom = _px(given, "top", look, high), _px(given, "bottom", look, high)
        own = position == "relative"
        if left is not None:
            x += left
        elif right is not None:
            x += -right if own or right < 0 or right >= wide / 2 else 0.0
        if top is not None:
            y += top
        elif bottom is not None:
            y += -bottom if own or bottom < 0 or bottom >= high else 0.0
            y = high if fixed and bottom <= _BELOW else y
    blocky = node.tag not in _INLINE or "display" in given or placed or outer.boxes
    x += _px(given, "margin-left", look, wide) or 0.0
    if blocky:
        y += _px(given, "margin-top", look, wide) or 0.0
        y += _px(given, "padding-top", look, wide) or 0.0
    x += _px(given, "padding-left", look, wide) or 0.0
    dx, dy = moved(given, look.size)
    indent = _px(given, "text-indent", look, wide)
    return replace(
        look,
        x=x + dx,
        y=y + dy,
        placed=placed,
        fixed=fixed,
        clipped=clipped,
        box=box,
        fits=look.fits or position != "static",
        indent=outer.indent if indent is None else indent,
    )


_CONTAINED = re.compile(r"\b(?:paint|strict|content)\b")
_NO_TRACKS = re.compile(r"0(?:fr|px|%)?")


def _cut(node: LexborNode, given: Mapping[str, str], look: Look, outer: Look) -> Look:
    """Cut off by a box without room."""
    across = given.get("overflow-x", "visible") not in ("visible", "initial", "")
    down = given.get("overflow-y", "visible") not in ("visible", "initial", "")
    paints = bool(_CONTAINED.search(given.get("contain", "")))
    across, down = across or paints, down or paints
    if not (across or down):
        return look
    if _flows(node, given, outer) or given.get("display") in ("inline", "contents"):
        return look
    if node.tag in ("html", "body"):
        return replace(look, locked=given.get("overflow-y") in ("hidden", "clip"))
    if outer.flat:
        return replace(look, clipped="a box without size")
    wide = _least(given, look, "width", "left", "right")
    high = _least(given, look, "height", "top", "bottom")
    if outer.boxes and (
        number((given.get("flex") or given.get("flex-grow", "")).split(" ")[0]) or 0
    ):
        wide = 1e9  # it grows
    if node.tag in ("td", "th") or given.get("display") == "table-cell":
        high = 1e9  # a cell is as high as what is in it
    if (across and wide <= NO_BOX) or (down and high <= NO_BOX):
        return replace(look, clipped="a box without size")
    if down and look.lines * look.size <= NO_BOX:
        return replace(look, clipped="line-height: 0")
    hard = paints or given.get("overflow-x") in ("hidden", "clip")
    if hard and given.get("position", "static") != "static":
        look = replace(look, tight=True)
    # Where it can be scrolled, it can be seen.
    if hard:
        return replace(look, box=(wide if across else 1e9, high if down else 1e9, look.x, look.y))
    return look


def _least(given: Mapping[str, str], look: Look, name: str, one: str, two: str) -> float:
    """The width or height of a box with its padding; large where it is not said."""
    sizes = [_px(given, each, look, 1_000.0) for each in (name, f"max-{name}")]
    if name == "height" and given.get("height", "").endswith("%"):
        sizes[0] = None  # of a height that is not known
    known = [size for size in sizes if size is not None]
    if not known:
        return 1e9
    padding = sum(_px(given, f"padding-{side}", look, 1_000.0) or 0.0 for side in (one, two))
    least = _px(given, f"min-{name}", look, 1_000.0) or 0.0
    return max(min(known), least) + padding
