"""From what a model wrote to the candidate that it means; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["matched", "numbered"]

#: List marks, prompt signs, numbers and the like that precede a command.
_BEFORE = re.compile(r"^(?:[>*\-•·–]+\s*|\d+\s*[.):]\s*|\d+\s+(?=[a-z]))+", re.I)
_NUMBER = re.compile(r"(\d+)[\s.):]*(.*)")
_QUOTES = "\"'`*“”‘’"


def matched(said: str, candidates: Sequence[str]) -> str | None:
    """The candidate that `said` is, apart from case, white space, a final stop, quotes and list
    marks; None if there is none."""
    if said in candidates:
        return said
    known = {" ".join(c.split()).casefold(): c for c in reversed(candidates)}
    bare = _bare(said)
    return known.get(bare) or known.get(_bare(_BEFORE.sub("", bare)))


def numbered(said: str, candidates: Sequence[str]) -> str | None:
    """The same where the list was numbered from 0: the command, the number before it, or the
    number alone. A number that belongs to another command than the one beside it is none."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if len(lines) != 1:
        return None
    found = _NUMBER.fullmatch(_bare(lines[0]))
    if found is None:
        return matched(lines[0], candidates)
    number, rest = int(found[1]), found[2]
    by_number = candidates[number] if number < len(candidates) else None
    return by_number if not rest or matched(rest, candidates) == by_number else None


def _bare(said: str) -> str:
    """In small letters, single spaces, without quotes and final stops around it."""
    before, bare = None, " ".join(said.split()).casefold()
    while bare != before:
        before, bare = bare, bare.strip(_QUOTES).rstrip(".!;,").strip()
    return bare
