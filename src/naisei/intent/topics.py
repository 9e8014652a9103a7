"""The distinct topics among the hits: what a question back offers to choose from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei.core import Evidence
from naisei.japanese.normal import normalise

__all__ = ["label", "topics"]

_LONGEST = 40
_NUMBERING = re.compile(
    r"^\s*(?:第?[0-9０-９一二三四五六七八九十]+(?:[.．、)）章節条項]|\s)[0-9.．]*\s*|[■●◆▼◇○・#＃]+\s*|[(（][0-9０-９]+[)）]\s*)"
)


def label(hit: Evidence) -> str:
    """`title › heading` of a hit, short enough for a list."""
    title = _clean(str(hit.meta.get("title") or hit.meta.get("path") or ""))
    headings = hit.meta.get("headings")
    names = [_clean(str(h)) for h in headings] if isinstance(headings, list) else []
    inner = [h for h in names if h and _bare(h) != _bare(title)]
    if not inner:
        return title
    return f"{title} › {inner[-1]}"


def topics(hits: Sequence[Evidence], limit: int, *, used: Sequence[str] = ()) -> tuple[str, ...]:
    """At most `limit` labels, in the order of the hits, no two alike and none of `used`.

    Documents take turns: their best sections first, then their second best, so that one long
    document does not fill the list. Outdated versions and near copies offer nothing.
    """
    taken = {_bare(u) for u in used}
    by_document: dict[str, list[str]] = {}
    for hit in hits:
        if hit.meta.get("superseded_by") or hit.meta.get("duplicate_of"):
            continue
        name = label(hit)
        if name and _bare(name) not in taken:
            taken.add(_bare(name))
            by_document.setdefault(str(hit.meta.get("path") or name), []).append(name)
    chosen: list[str] = []
    row = 0
    while len(chosen) < limit and any(len(names) > row for names in by_document.values()):
        chosen += [names[row] for names in by_document.values() if len(names) > row]
        row += 1
    return tuple(chosen[:limit])


def _clean(text: str) -> str:
    text = _NUMBERING.sub("", " ".join(text.split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())
