"""Which of the engine's candidates a player is shown.

Source: the text-game thesis, §6.3.3: commands that begin with examine, close, eat, look, drink,
put or insert are left out, save `examine cookbook` and `eat meal`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["FILTERS", "Filter"]

Filter = Callable[[Sequence[str]], tuple[str, ...]]

_USELESS = ("examine", "close", "eat", "look", "drink", "put", "insert")
_KEPT = ("examine cookbook", "eat meal")


def _none(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(candidates)


def _thesis(candidates: Sequence[str]) -> tuple[str, ...]:
    return tuple(c for c in candidates if c in _KEPT or c.split(" ", 1)[0] not in _USELESS)


def _strict(candidates: Sequence[str]) -> tuple[str, ...]:
    """As the thesis, and without `inventory`, since a view holds it already."""
    return tuple(c for c in _thesis(candidates) if c != "inventory")


#: Name → filter. One that leaves nothing over is not applied (see `task`).
FILTERS: Mapping[str, Filter] = {"none": _none, "thesis": _thesis, "strict": _strict}
