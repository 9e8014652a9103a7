"""Finding what others add by entry points: providers, memories, agents, data sets."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from naisei.core import InputError

__all__ = ["load", "names"]


def names(group: str) -> list[str]:
    """The names registered in an entry-point group, sorted."""
    return sorted({e.name for e in entry_points(group=group)})


def load(group: str, name: str, *, what: str, option: str = "") -> Any:
    """The object registered as `name`.

    Raises:
        InputError: no such name (the message lists those there are), or it cannot be imported.
    """
    found: list[EntryPoint] = list(entry_points(group=group, name=name))
    if not found:
        raise InputError(
            f"unknown {what} '{name}'",
            place=option,
            remedy=f"known: {', '.join(names(group))}; others are added by an "
            f"entry point in the group '{group}'",
        )
    try:
        return found[0].load()
    except ImportError as error:
        raise InputError(
            f"{what} '{name}' cannot be loaded: {error}",
            place=option,
            remedy=f"it comes from {found[0].value}; is everything that it needs installed?",
        ) from error
