"""Which kind of game this is, by its opening words alone."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Family", "family_of"]

Family = Literal["tidying", "cooking", "general"]

_COOKING = re.compile(r"\b(cookbook|recipe|cook|hungry)\b", re.I)
_TIDYING = re.compile(
    r"\b(tidy|clean(ing)? up|in a mess|messy|out of place|put (it|them|things) away|belongs?)\b",
    re.I,
)


def family_of(opening: str) -> Family:
    """`general` where neither kind is spoken of."""
    if _COOKING.search(opening):
        return "cooking"
    return "tidying" if _TIDYING.search(opening) else "general"
