"""Transforms and clipping shapes of CSS: where they move an element to, and whether they leave
anything of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from naisei.retrieval.loaders.css_values import arguments, expanded, functions, length, number

#: Pixels: a box in which nothing shows.
NO_BOX = 2.5
#: What per cent of an element's own size are taken of.
_OWN = (600.0, 50.0)


def moved(given: Mapping[str, str], em: float) -> tuple[float, float]:
    x = y = 0.0
    moves = [f"translate({given['translate']})"] if "translate" in given else []
    for part in [*moves, *functions(given.get("transform", ""))]:
        name, values = part.partition("(")[0], arguments(part)
        if not values:
            continue
        if name in ("translate", "translatex", "translate3d"):
            x += length(values[0], em, _OWN[0]) or 0.0
        if name == "translatey" or (name in ("translate", "translate3d") and len(values) > 1):
            y += length(values[0 if name == "translatey" else 1], em, _OWN[1]) or 0.0
        if name == "matrix" and len(values) == 6:
            x, y = x + (number(values[4]) or 0.0), y + (number(values[5]) or 0.0)
    return x, y


def _degrees(value: str) -> float:
    found = re.fullmatch(r"(-?[\d.]+)(deg|turn|rad|grad)?", value)
    if found is None:
        return 0.0
    return float(found[1]) * {"turn": 360.0, "rad": 57.29578, "grad": 0.9}.get(found[2], 1.0)


def _turned(part: str, given: Mapping[str, str]) -> bool:
    """Whether a transform leaves nothing to see."""
    name, values = part.partition("(")[0], arguments(part)
    numbers = [number(value) for value in values]
    if name in ("scale", "scalex", "scaley", "scale3d"):
        return any(n is not None and abs(n) < 0.05 for n in numbers[:2])
    if name in ("matrix", "matrix3d") and len(numbers) in (6, 16):
        at = (0, 1, 2, 3) if name == "matrix" else (0, 1, 4, 5)
        a, b, c, d = (numbers[i] or 0.0 for i in at)
        return abs(a * d - b * c) < 1e-3
    angle = _degrees(values[0]) if values else 0.0
    if name == "rotate3d" and len(values) == 4 and (numbers[0] or numbers[1]) and not numbers[2]:
        name, angle = "rotatex", _degrees(values[3])
    if name in ("skew", "skewx", "skewy"):
        return abs(abs(angle) % 180 - 90) < 1.5
    away = given.get("backface-visibility") == "hidden" and 90 < angle % 360 < 270
    return name in ("rotatex", "rotatey") and (away or abs(angle % 180 - 90) < 1.5)


def shaped_away(given: Mapping[str, str]) -> str:
    """Why nothing is seen: scaled to nothing, turned away, clipped by a shape; else empty."""
    parts = [f"scale({given['scale']})"] if "scale" in given else []
    turned = given.get("rotate", "").split(" ")
    if len(turned) == 4 and turned[:3] in (["1", "0", "0"], ["0", "1", "0"]):
        turned = ["x" if turned[0] == "1" else "y", turned[3]]
    if len(turned) == 2:
        axis, angle = turned
        parts.append(f"rotate{axis}({angle})")
    for part in [*parts, *functions(given.get("transform", ""))]:
        if _turned(part, given):
            return f"transform: {part.partition('(')[0]}"
    if given.get("position") in ("absolute", "fixed") and _no_area(given.get("clip", "")):
        return "clip"
    return "clip-path" if _no_area(given.get("clip-path", "")) else ""


def _no_area(shape: str) -> bool:
    """Whether a clipping shape leaves nothing."""
    name, values = shape.partition("(")[0], arguments(shape)
    if "round" in values:
        values = values[: values.index("round")]
    if name == "rect" and len(values) == 4:
        top, right, bottom, left = (length(value, 16, 100) for value in values)
        if None in (top, right, bottom, left):
            return False
        assert top is not None and right is not None and bottom is not None and left is not None
        return right - left <= NO_BOX or bottom - top <= NO_BOX
    if name == "inset" and values:
        four = dict(zip("trbl", [v for _, v in expanded("inset", " ".join(values))], strict=False))
        size = {side: length(value, 16, 1000) or 0.0 for side, value in four.items()}
        return size["t"] + size["b"] >= 990 or size["l"] + size["r"] >= 990
    if name in ("circle", "ellipse") and values:
        if "at" in values:
            at = [length(v, 16, 1000) for v in values[values.index("at") + 1 :]]
            reach = length(values[0], 16, 1000) if values[0] != "at" else None
            if reach is not None and any(p is not None and p + reach <= 0 for p in at):
                return True
        sizes = [length(v, 16, 1000) for v in values[: 1 + (name == "ellipse")] if v != "at"]
        return any(size is not None and size <= NO_BOX for size in sizes)
    if name == "xywh" and len(values) >= 4:
        return any((length(v, 16, 1000) or 0.0) <= NO_BOX for v in values[2:4])
    if name == "polygon":
        return _flat([length(v, 16, 1000) for v in values if v not in ("evenodd", "nonzero")])
    drawn = shape.partition("(")[2]
    return name == "path" and len(re.findall(r"\d+", drawn)) < 5 and not re.search("[hv]", drawn)


def _flat(sides: list[float | None]) -> bool:
    points = [value for value in sides if value is not None]
    if len(points) != len(sides) or len(points) < 2 or len(points) > 200:
        return False
    xs, ys = points[::2], points[1::2]
    if len(xs) != len(ys):
        return False
    twice = sum(xs[i - 1] * ys[i] - xs[i] * ys[i - 1] for i in range(len(xs)))
    outside = max(xs) <= 0 or max(ys) <= 0
    return abs(twice) < 10 or outside
