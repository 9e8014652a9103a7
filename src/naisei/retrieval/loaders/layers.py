"""Filters and blending: what becomes of the colours of a group when it is laid on the page.

Source: Filter Effects Module Level 1; Compositing and Blending Level 1, W3C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from naisei.retrieval.loaders.css_values import RGBA, alike, arguments, functions, number


@dataclass(frozen=True, slots=True)
class Layer:
    """kind: a filter's or blend mode's name. behind: the grounds that the group is laid on;
    fills: how many grounds had been painted by then."""

    kind: str
    amount: float
    behind: tuple[RGBA, ...]
    fills: int


def _dodge(back: float, front: float) -> float:
    return 0.0 if back == 0 else 1.0 if front >= 1 else min(1.0, back / (1 - front))


def _burn(back: float, front: float) -> float:
    return 1.0 if back >= 1 else 0.0 if front <= 0 else 1 - min(1.0, (1 - back) / front)


def _hard(back: float, front: float) -> float:
    return 2 * back * front if front <= 0.5 else 1 - 2 * (1 - back) * (1 - front)


_BLENDS: Mapping[str, Callable[[float, float], float]] = {
    "multiply": lambda back, front: back * front,
    "screen": lambda back, front: back + front - back * front,
    "darken": min,
    "lighten": max,
    "plus-lighter": lambda back, front: min(1.0, back + front),
    "color-dodge": _dodge,
    "color-burn": _burn,
    "hard-light": _hard,
    "overlay": lambda back, front: _hard(front, back),
    "difference": lambda back, front: abs(back - front),
    "exclusion": lambda back, front: back + front - 2 * back * front,
}
_FILTERS: Mapping[str, Callable[[float, float], float]] = {
    "invert": lambda value, amount: value + amount * (1 - 2 * value),
    "brightness": lambda value, amount: value * amount,
    "contrast": lambda value, amount: (value - 0.5) * amount + 0.5,
}


def layers_of(
    given: Mapping[str, str], behind: tuple[RGBA, ...], outer: int, own: int
) -> tuple[Layer, ...]:
    """Those that an element opens, the innermost first. outer: grounds painted around it; own:
    with its own. On a page without any ground, there is nothing to blend with."""
    found: list[Layer] = []
    for part in functions(given.get("filter", "")):
        name = part.partition("(")[0]
        amount = number((arguments(part) or ["1"])[0])
        if name in _FILTERS and amount is not None:
            found.append(Layer(name, max(0.0, amount), behind, outer))
    mode = given.get("mix-blend-mode", "")
    if mode in _BLENDS and outer:
        found.append(Layer(mode, 0.0, behind, outer))
    return tuple(found)


def tells(shade: RGBA, ground: RGBA, layers: tuple[Layer, ...], fills: int) -> bool:
    """Whether letters of a shade are told from their ground in the end."""
    pairs = [(shade, ground)]
    for layer in layers:
        pairs = [
            (
                _changed(one, layer, back),
                _changed(two, layer, back) if fills > layer.fills else back,
            )
            for one, two in pairs[:8]
            for back in (layer.behind or (two,))[:8]
        ]
    return any(not alike(one, two) for one, two in pairs)


def _changed(color: RGBA, layer: Layer, back: RGBA) -> RGBA:
    if layer.kind in _BLENDS:
        blend = _BLENDS[layer.kind]
        red, green, blue = (blend(b, c) for b, c in zip(back[:3], color[:3], strict=True))
    else:
        change = _FILTERS[layer.kind]
        red, green, blue = (min(1.0, max(0.0, change(c, layer.amount))) for c in color[:3])
    return red, green, blue, 1.0
