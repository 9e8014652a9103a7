"""Values of CSS: shorthands, lengths in pixels, colours; as far as they decide what is seen."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping

from tinycss2 import color5  # type: ignore[import-untyped]

#: Red, green, blue and opacity, 0 to 1.
RGBA = tuple[float, float, float, float]

_SIDES = ("top", "right", "bottom", "left")
LONGHANDS: Mapping[str, tuple[str, ...]] = {
    "inset": _SIDES,
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
    "margin": tuple(f"margin-{side}" for side in _SIDES),
    "padding": tuple(f"padding-{side}" for side in _SIDES),
    "overflow": ("overflow-x", "overflow-y"),
    "background": ("background-color", "background-image", "background-clip"),
    "font": ("font-size",),
    "animation": ("animation-name", "animation-fill-mode", "animation-play-state"),
    "mask": ("mask-image",),
    "-webkit-mask": ("mask-image",),
    "margin-inline": ("margin-left", "margin-right"),
    "margin-block": ("margin-top", "margin-bottom"),
    "padding-inline": ("padding-left", "padding-right"),
    "padding-block": ("padding-top", "padding-bottom"),
}
#: Names that are another's.
_SAME = {
    "inset-inline-start": "left",
    "inset-block-start": "top",
    "inset-inline-end": "right",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "-webkit-mask-image": "mask-image",
    "-webkit-background-clip": "background-clip",
    "-webkit-transform": "transform",
    "-webkit-clip-path": "clip-path",
    "-webkit-filter": "filter",
    "overflow-block": "overflow-y",
    "overflow-inline": "overflow-x",
    "-webkit-mask-size": "mask-size",
}
RELEVANT = frozenset({*(long for longs in LONGHANDS.values() for long in longs), *_SAME})
RELEVANT |= frozenset(_SAME.values()) | frozenset(
    re.findall(
        r"[\w-]+",
        """all display visibility opacity filter color -webkit-text-fill-color fill position clip
        text-indent clip-path transform translate scale rotate content-visibility z-index float
        white-space line-height letter-spacing text-shadow -webkit-text-stroke zoom width height
        max-width max-height min-width min-height backface-visibility color-scheme isolation
        flex flex-grow box-shadow mix-blend-mode font-size-adjust contain mask-size
        grid-template-rows grid-template-columns -webkit-text-security animation-duration
        animation-delay animation-iteration-count""",
    )
)

_WIDE = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
_DISPLAY = re.compile(
    r"(?:none|contents|block|inline|flow-root|inline-(?:block|flex|grid|table)|flex|grid|table"
    r"|table-[a-z-]+|list-item|ruby(?:-[a-z]+)*|run-in|-webkit-(?:inline-)?box|flow|math|"
    r"(?:block|inline) (?:flow|flow-root|flex|grid|table|ruby))"
)


def _one_of(*words: str) -> Callable[[str], bool]:
    known = _WIDE | frozenset(words)
    return lambda value: value in known


#: What a browser takes as a value; another is as if it were not written.
VALID: Mapping[str, Callable[[str], bool]] = {
    "display": lambda value: value in _WIDE or _DISPLAY.fullmatch(value) is not None,
    "visibility": _one_of("visible", "hidden", "collapse"),
    "opacity": lambda value: value in _WIDE or number(value) is not None or "calc(" in value,
    "color": lambda value: value in _WIDE or colour(value) is not None or value == "currentcolor",
    "position": _one_of("static", "relative", "absolute", "fixed", "sticky"),
    "content-visibility": _one_of("visible", "hidden", "auto"),
    "font-size": lambda value: value in _WIDE or (length(value, 16, 16) or 0.0) >= 0.0,
    "clip": lambda value: value in _WIDE or value == "auto" or value.startswith("rect("),
}


def expanded(name: str, value: str) -> Iterator[tuple[str, str]]:
    """(longhand, value); a shorthand that holds `var()` is kept whole, marked by its name."""
    name = _SAME.get(name, name)
    if name == "all":
        yield from ((long, value) for long in RELEVANT - LONGHANDS.keys() - {"all"})
        return
    if name not in LONGHANDS:
        yield name, value
        return
    longs = LONGHANDS[name]
    if "var(" in value:
        yield from ((long, f"@{name} {value}") for long in longs)
        return
    if value in _WIDE:
        yield from ((long, value) for long in longs)
        return
    parts = functions(value)
    if len(longs) == 4 and parts:
        four = [*parts, *parts[len(parts) - len(parts) // 2 :]] if len(parts) > 1 else parts * 4
        four = {1: parts * 4, 2: parts * 2, 3: [*parts, *parts[1:2]]}.get(len(parts), parts)
        yield from zip(longs, four, strict=False)
    elif len(longs) == 2 and parts:
        yield from ((longs[0], parts[0]), (longs[1], parts[-1]))
    elif name == "background":
        shown = [part for part in parts if colour(part) is not None or part == "currentcolor"]
        yield "background-color", shown[-1] if shown else "transparent"
        images = [part for part in parts if "gradient(" in part or part.startswith("url(")]
        yield "background-image", " ".join(images) or "none"
        yield "background-clip", "text" if "text" in parts else "border-box"
    elif name == "font":
        sizes = [part.partition("/")[0] for part in parts]
        found = [size for size in sizes if length(size, 16, 16) is not None and size != "normal"]
        # A weight is a number without a unit; the size stands after it.
        found = [size for size in found if not re.fullmatch(r"[1-9]\d*", size)]
        if found:
            yield "font-size", found[0]
    elif name == "animation":
        modes = ("forwards", "backwards", "both")
        yield "animation-fill-mode", next((p for p in parts if p in modes), "none")
        yield "animation-play-state", "paused" if "paused" in parts else "running"
        times = [time for part in parts if (time := seconds(part)) is not None]
        for name, time in zip(("animation-duration", "animation-delay"), times, strict=False):
            yield name, f"{time}s"
        yield "animation-iteration-count", "infinite" if "infinite" in parts else "1"
        yield "animation-name", " ".join(p for p in parts if re.fullmatch(r"-?[a-z_][\w-]*", p))
    else:
        yield longs[0], value


def seconds(value: str) -> float | None:
    """Of a time: 2s, 300ms."""
    found = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e\d+)?)(m?s)", value.strip())
    return float(found[1]) / (1000 if found[2] == "ms" else 1) if found else None


def functions(value: str) -> list[str]:
    """The parts of a value between spaces; what stands in brackets is one part."""
    parts, depth, held = [], 0, ""
    for sign in value.replace(" / ", "/"):
        depth += (sign == "(") - (sign == ")")
        if sign in " \t\n," and depth <= 0:
            parts += [held] if held else []
            held = ""
        else:
            held += sign
    return [*parts, held] if held else parts


def arguments(value: str) -> list[str]:
    """What stands in a function's brackets, at its commas and spaces."""
    return functions(value.partition("(")[2].strip().removesuffix(")").replace(",", " "))


_VAR = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")


def resolved(value: str, custom: Mapping[str, str]) -> str:
    """With variables put in; empty where one has no value."""
    for _ in range(8):
        if "var(" not in value or len(value) > 4_000:
            break
        value = _VAR.sub(lambda found: custom.get(found[1], (found[2] or "").strip()), value)
    return "" if "var(" in value else value.strip()


_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_UNITS = {
    "px": 1.0,
    "": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.945,
    "rem": 16.0,
    "vw": 12.8,
    "vh": 8.0,
    "vmin": 8.0,
    "vmax": 12.8,
    "dvh": 8.0,
    "svh": 8.0,
    "lvh": 8.0,
    "dvw": 12.8,
}
_SIZES = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "smaller": 13.0,
    "larger": 19.0,
}


def length(value: str, em: float, whole: float) -> float | None:
    """Pixels; `None` for `auto` and the like. em: the size of the letters; whole: what per cent
    are of."""
    value = value.strip()
    if value in _SIZES:
        return _SIZES[value]
    if found := _LENGTH.fullmatch(value):
        return _pixels(found, em, whole)
    name = value.partition("(")[0].strip("+-")
    if "(" not in value or name not in ("calc", "min", "max", "clamp", ""):
        return None
    return computed(_TERM.sub(lambda found: str(_pixels(found, em, whole)), value))


def _pixels(found: re.Match[str], em: float, whole: float) -> float | None:
    size, unit = float(found[1]), found[2]
    if unit == "%":
        return size * whole / 100
    if unit in ("em", "ch", "ex", "lh", "ic"):
        return size * em * (1.0 if unit in ("em", "lh", "ic") else 0.5)
    return size * _UNITS[unit] if unit in _UNITS else None


def number(value: str) -> float | None:
    """Of a share: 0.5, 50%, calc(0.1 * 0)."""
    found = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)", value.strip())
    if found:
        return float(found[1]) / (100 if found[2] else 1)
    return computed(_TERM.sub(_share, value)) if "(" in value else None


def _share(found: re.Match[str]) -> str:
    return str(float(found[1]) / 100 if found[2] == "%" else found[1])


#: A number within a formula, without its sign.
_TERM = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_OPERATORS: Mapping[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "calc": lambda value: value,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "clamp": lambda low, value, high: max(low, min(value, high)),
    "abs": abs,
}


def computed(formula: str) -> float | None:
    """Of `calc(…)`, `min(…)` and their like over numbers; `and`, `or`, `not` over 0 and 1.
    `None` where it is nothing of the kind."""
    if len(formula) > 300:
        return None
    try:
        return float(_computed(ast.parse(formula.strip(), mode="eval").body))
    except (SyntaxError, ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
        return None


def _computed(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_computed(left), _computed(right))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_computed(operand))
        case ast.BoolOp(op=op, values=values):
            chosen = all if isinstance(op, ast.And) else any
            return float(chosen(_computed(value) for value in values))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _FUNCTIONS[name](*map(_computed, args))
    raise ValueError(node)


_SYSTEM = {"canvas": 1.0, "canvastext": 0.0, "field": 1.0, "fieldtext": 0.0, "window": 1.0}


def colour(value: str) -> RGBA | None:
    """`None` where it is no colour that is known."""
    value = value.strip()
    if value in _SYSTEM:
        return (_SYSTEM[value],) * 3 + (1.0,)
    if value.startswith("color-mix("):
        return _mixed(value)
    if (found := _RELATIVE.fullmatch(value)) is not None and (base := colour(found[1])):
        share = number(found[2]) if found[2] else base[3]
        return (*base[:3], base[3] if share is None else min(1.0, max(0.0, share)))
    try:
        found = color5.parse_color(value)
        if found is None or isinstance(found, str):
            return None
        return _srgb(found)
    # tinycss2 does not check what a function of colour is given.
    except (ValueError, TypeError, IndexError, NotImplementedError, AttributeError):
        return None


#: A colour made of another; its channels are taken as they are.
_RELATIVE = re.compile(r"[a-z]+\(from\s+([^\s()]+(?:\([^()]*\))?)\s[^/]*(?:/\s*([^/]+?)\s*)?\)")


def _mixed(value: str) -> RGBA | None:
    """Of `color-mix`, in whatever space, as if in sRGB."""
    parts: list[tuple[RGBA, float | None]] = []
    for word in functions(value.partition("(")[2].rpartition(")")[0]):
        if (shade := colour(word)) is not None:
            parts.append((shade, None))
        elif word.endswith("%") and parts:
            parts[-1] = (parts[-1][0], number(word))
    if len(parts) != 2:
        return None
    (one, first), (two, second) = parts
    if first is None:
        first = 0.5 if second is None else 1 - second
    rest = 1 - first if second is None else second
    whole = (first + rest) or 1.0
    a, b = first / whole, rest / whole
    alpha = a * one[3] + b * two[3]
    if alpha <= 0:
        return (0.0, 0.0, 0.0, 0.0)
    red, green, blue = (
        (a * one[3] * x + b * two[3] * y) / alpha for x, y in zip(one[:3], two[:3], strict=True)
    )
    return red, green, blue, alpha * min(1.0, whole)


#: XYZ to linear sRGB, by the white that XYZ is told by. Source: CSS Color Level 4.
_D65 = ((3.2410, -1.5374, -0.4986), (-0.9692, 1.8760, 0.0416), (0.0556, -0.2040, 1.0570))
_D50 = ((3.1341, -1.6174, -0.4907), (-0.9788, 1.9161, 0.0335), (0.0720, -0.2290, 1.4054))


def _srgb(found: color5.Color) -> RGBA:
    alpha = min(1.0, max(0.0, float(found.alpha or 0)))
    if found.space in ("srgb", "hsl", "hwb"):
        red, green, blue = found.to("srgb").coordinates[:3]
    elif found.space in ("lab", "lch", "oklab", "oklch"):
        x, y, z = found.to("xyz-d50" if found.space in ("lab", "lch") else "xyz-d65").coordinates
        to_red, to_green, to_blue = _D50 if found.space in ("lab", "lch") else _D65
        red, green, blue = (
            _gamma(a * x + b * y + c * z) for a, b, c in (to_red, to_green, to_blue)
        )
    else:
        red, green, blue = (float(each or 0) for each in found.coordinates[:3])
    red, green, blue = (min(1.0, max(0.0, float(each))) for each in (red, green, blue))
    return red, green, blue, alpha


def _gamma(light: float) -> float:
    light = min(1.0, max(0.0, light))
    return float(12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055)


def colours_in(value: str) -> list[RGBA]:
    """Those of a gradient or a mixture."""
    return [shade for part in arguments(value) if (shade := colour(part)) is not None]


def over(front: RGBA, ground: RGBA) -> RGBA:
    """A colour laid over another."""
    share = front[3]
    red, green, blue = (
        share * f + (1 - share) * g for f, g in zip(front[:3], ground[:3], strict=True)
    )
    return red, green, blue, 1.0


#: Of a channel: white and #f4f4f4 are alike, white and #eee are not.
_NEAR = 0.045


def alike(one: RGBA, two: RGBA) -> bool:
    """Whether nobody sees one on the other."""
    return max(abs(a - b) for a, b in zip(one[:3], two[:3], strict=True)) < _NEAR
