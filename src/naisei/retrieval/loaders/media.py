"""Conditions of style sheets: `@media` for a desktop screen, `@supports`."""

from __future__ import annotations

import re

from naisei.retrieval.loaders.css_values import VALID, computed, length

#: Width and height of the screen, in CSS pixels.
SCREEN = (1280.0, 800.0)


#: What the names of properties begin with that Chromium knows, in 2026.
_PROPERTIES = frozenset(
    re.findall(
        r"\w+",
        """accent align all anchor animation app appearance aspect backdrop backface background
        baseline block border bottom box break buffered caption caret clear clip color
        column columns contain container content corner counter cursor cx cy d
        direction display dominant dynamic empty field fill filter flex float flood
        font forced gap grid hanging height hyphenate hyphens image inherits initial
        inline inset interactivity interpolate isolation justify left letter lighting
        line list margin marker mask math max min mix object offset opacity order
        orphans outline overflow overlay overscroll padding page paint perspective
        place pointer position print quotes r reading resize right rotate row ruby rx
        ry scale scroll scrollbar shape size speak stop stroke tab table text timeline
        top touch transform transition translate unicode user vector vertical view
        visibility white widows width will word writing x y z zoom""",
    )
)


def supported(condition: str) -> bool:
    """Of `@supports`: a property or a value that no browser takes does not hold."""

    def holds(found: re.Match[str]) -> str:
        name = found[1].removeprefix("-webkit-")
        if not name.startswith("--") and name.partition("-")[0] not in _PROPERTIES:
            return " 0 "
        valid = VALID.get(found[1])
        return " 1 " if valid is None or valid(found[2].strip()) else " 0 "

    said = re.sub(
        r"(?:selector|font-tech|font-format)\([^()]*(?:\([^()]*\))?[^()]*\)", " 1 ", condition
    )
    said = re.sub(r"\(\s*([\w-]+)\s*:\s*((?:[^()]|\([^()]*\))*)\)", holds, said)
    result = computed(said)
    return result is None or bool(result)


_BETWEEN = re.compile(
    r"\(\s*([\d.]+\w*)\s*(<=?|>=?)\s*(width|height)\s*(?:(<=?|>=?)\s*([^()]*))?\)"
)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FEATURE = re.compile(r"\(\s*([\w-]+)\s*(?:(:|[<>]=?|=)\s*((?:[^()]|\([^()]*\))*?))?\s*\)")
_TRUE = {
    "prefers-color-scheme": "light",
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-reduced-motion": "no-preference",
    "scripting": "enabled",
    "color-gamut": "srgb",
    "forced-colors": "none",
    "inverted-colors": "none",
    "prefers-contrast": "no-preference",
    "prefers-reduced-data": "no-preference",
    "prefers-reduced-transparency": "no-preference",
    "dynamic-range": "standard",
    "grid": "0",
    "min-color": "1",
    "min-resolution": "1dppx",
    "color": "",
    "display-mode": "browser",
    "update": "fast",
}


def media_holds(query: str) -> bool:
    """Whether a media query list holds for the screen."""
    return any(_one_media(part.strip().lower()) for part in query.split(","))


def _one_media(query: str) -> bool:
    while (inner := re.fullmatch(r"\(\s*(\(.*\))\s*\)", query)) is not None:
        query = inner[1]
    if " or " in query:
        return any(_one_media(part.strip()) for part in query.split(" or "))
    holds, turned = True, False
    # 400px <= width <= 900px as two conditions.
    query = _BETWEEN.sub(
        lambda m: (
            f"({m[3]} {_TURNED[m[2]]} {m[1]})" + (f" and ({m[3]} {m[4]} {m[5]})" if m[4] else "")
        ),
        query,
    )
    for part in re.split(r"\s+and\s+", query):
        part = part.strip()
        if part.startswith("not"):
            turned, part = True, part[3:].strip()
        part = part.removeprefix("only").strip()
        feature = _FEATURE.fullmatch(part)
        holds &= _feature(*feature.groups("")) if feature else part in ("", "all", "screen")
    return holds != turned


def _feature(name: str, how: str, value: str) -> bool:
    side, _, axis = name.rpartition("-")
    if axis in ("width", "height") and side in ("", "min", "max", "device", "min-device"):
        size = SCREEN[axis == "height"]
        wanted = length(value, 16.0, 16.0)
        if wanted is None:
            return not value
        least = side.startswith("min") or how in (">", ">=")
        most = side == "max" or how in ("<", "<=")
        return size >= wanted if least else size <= wanted if most else size == wanted
    if axis == "ratio" and (found := re.fullmatch(r"([\d.]+)\s*/\s*([\d.]+)", value)):
        ratio, wanted = SCREEN[0] / SCREEN[1], float(found[1]) / (float(found[2]) or 1.0)
        return ratio >= wanted if side.startswith("min") else ratio <= wanted
    return _TRUE.get(name) in (value, "") if name in _TRUE else False
