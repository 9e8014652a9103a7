"""The entry points of a group, by name. Imports nothing heavy, since lists of commands use it."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from naisei.lang import say

#: Warnings given so far.
_told: set[tuple[str, str, str]] = set()


def load_entry(place: str) -> Any:
    """Load the object at `module:attribute`. Raises `ImportError`, `AttributeError`."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def entries(group: str) -> dict[str, EntryPoint]:
    """The objects registered in an entry-point group, sorted by name. Built-in names and names of
    earlier packages win, with one warning on stderr."""
    found: dict[str, EntryPoint] = {}
    registered = _installed(tuple(sys.path)).select(group=group)
    # Built-in names first: a name in a command must mean what the documentation says.
    for entry in sorted(registered, key=lambda e: not e.value.startswith("naisei.")):
        if found.setdefault(entry.name, entry).value != entry.value:
            tell_taken(entry, found[entry.name].value)
    return dict(sorted(found.items()))


def plugins() -> dict[str, str]:
    """Module → the third-party package that provides it, for all groups."""
    return {
        entry.module.partition(".")[0]: package.name
        for package in distributions()
        for entry in package.entry_points
        if entry.group.startswith("naisei.") and not entry.module.startswith("naisei.")
    }


@lru_cache(maxsize=2)
def _installed(path: tuple[str, ...]) -> Any:
    """The entry points of all packages on the path, cached since reading them is slow."""
    return entry_points()


def tell_taken(entry: EntryPoint, by: str) -> None:
    """Warn once that an entry point is ignored because its name is taken."""
    if (key := (entry.group, entry.name, entry.value)) in _told:
        return
    _told.add(key)
    print(
        say(
            f"注意: {entry.value} は使いません。'{entry.name}' ({entry.group}) という名前は "
            f"{by} が使っています",
            f"note: {entry.value} is not used: '{entry.name}' ({entry.group}) is the name of {by}",
        ),
        file=sys.stderr,
    )


def names(group: str) -> list[str]:
    """The names registered in an entry-point group, sorted."""
    return list(entries(group))
