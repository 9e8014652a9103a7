"""In which line of a TOML file a key stands. The standard library's reader does not tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["key_line"]

_HEAD = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w.\"'-]+)\s*=")


def key_line(text: str, path: Sequence[Any]) -> int:
    """The line, from 1, of the deepest part of `path` (keys and list indices) that is found; 0 if
    none is.

    In arrays the word of a key is looked for from the array's first line on.
    """
    known = _places(text)
    for length in range(len(path), 0, -1):
        line = known.get(tuple(path[:length]))
        if line is None:
            continue
        rest = [part for part in path[length:] if isinstance(part, str)]
        return (_word(text, rest[-1], line) if rest else 0) or line
    return 0


def _places(text: str) -> dict[tuple[Any, ...], int]:
    places: dict[tuple[Any, ...], int] = {}
    tables: dict[tuple[Any, ...], int] = {}
    at: tuple[Any, ...] = ()
    quoted = ""
    for number, row in enumerate(text.splitlines(), 1):
        if quoted:
            quoted = "" if row.count(quoted) % 2 else quoted
            continue
        if (head := _HEAD.match(row)) and not row.lstrip().startswith(("[ {", "[{")):
            at = tuple(part.strip().strip("\"'") for part in head[2].split("."))
            if head[1] == "[[":
                tables[at] = tables.get(at, -1) + 1
                places.setdefault(at, number)
                at = (*at, tables[at])
            places.setdefault(at, number)
        elif key := _KEY.match(row):
            name = tuple(part.strip("\"'") for part in key[1].split("."))
            for length in range(1, len(name) + 1):
                places.setdefault((*at, *name[:length]), number)
        for mark in ('"""', "'''"):
            if row.count(mark) % 2:
                quoted = mark
    return places


def _word(text: str, key: str, start: int) -> int:
    for number, row in enumerate(text.splitlines()[start - 1 :], start):
        if re.search(rf"(?<![\w-]){re.escape(key)}\s*=", row):
            return number
        if number > start and _HEAD.match(row):
            break
    return 0
