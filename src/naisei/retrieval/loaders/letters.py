"""Letters of office documents that nobody sees: hidden, struck out, too small to read, or of the
colour of what they stand on. Pages of HTML are looked at as browsers draw them
(`naisei.retrieval.loaders.visible`); OpenDocument is read as such a page.
"""

from __future__ import annotations

import re

_HEX = re.compile("[0-9a-f]{6}")
#: Points; of 255: letters of #f4f4f4 are not seen on white.
_SMALLEST, _NEAR = 1.5, 12


def unseen(
    *,
    hidden: bool = False,
    struck: bool = False,
    points: float | None = None,
    color: str = "",
    ground: str = "",
) -> str:
    """Why letters are not seen; empty if they are. color, ground: six hexadecimal digits; white
    ground where none is given, letters of no given colour are always seen."""
    if hidden:
        return "hidden"
    if struck:
        return "struck out"
    if points is not None and 0 <= points < _SMALLEST:
        return f"font-size: {points:.3g}pt"
    front, back = color.lower(), (ground or "ffffff").lower()
    if _HEX.fullmatch(front) is None or _HEX.fullmatch(back) is None:
        return ""
    pairs = zip(bytes.fromhex(front), bytes.fromhex(back), strict=True)
    near = max(abs(one - other) for one, other in pairs) < _NEAR
    return "color like the background" if near else ""
