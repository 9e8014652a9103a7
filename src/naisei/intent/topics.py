"""The distinct topics among the hits: what a question back offers to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from naisei.core import Evidence
from naisei.japanese.normal import normalise

__all__ = ["label", "title_of", "topics"]

#: The first hits are offered whatever they cover, others from this share of the best coverage.
_FIRST, _FITTING = 3, 0.5
_LONGEST = 40
_NUMBERING = re.compile(
    r"^\s*(?:第?[0-9０-９一二三四五六七八九十]+(?:[.．、)）章節条項]|\s)[0-9.．]*\s*|[■●◆▼◇○・#＃]+\s*|[(（][0-9０-９]+[)）]\s*)"
)


def label(hit: Evidence) -> str:
    """`title › heading` of a hit, short enough for a list."""
    title = title_of(hit)
    headings = hit.meta.get("headings")
    names = [_clean(str(h)) for h in headings] if isinstance(headings, list) else []
    inner = [h for h in names if h and _bare(h) != _bare(title)]
    if not inner:
        return title
    return f"{title} › {inner[-1]}"


def topics(
    hits: Sequence[Evidence],
    limit: int,
    *,
    covers: Mapping[str, float],
    used: Sequence[str] = (),
    within: str = "",
) -> tuple[str, ...]:
    """At most `limit` topics among the hits, no two alike and none of `used`.

    A document of which several sections fit is offered as a whole, one of which a single section
    does by that section; where one document is all that fits, or is the one meant (`within`),
    its sections are. Outdated versions and near copies offer nothing, nor does what hardly has
    to do with the question.

    covers: hit → how much of the question it covers, in [0, 1].
    """
    taken = {_bare(u) for u in used}
    documents = _by_document(_fitting(hits, covers))
    if within:
        documents = {path: d for path, d in documents.items() if title_of(d[0]) == within}
    if len(documents) == 1:
        sections = [hit for found in documents.values() for hit in found]
        names = [_section(hit) if within else label(hit) for hit in sections]
    else:
        names = [
            title_of(found[0]) if len({label(h) for h in found}) > 1 else label(found[0])
            for found in documents.values()
        ]
    chosen: list[str] = []
    for name in names:
        if name and _bare(name) not in taken:
            taken.add(_bare(name))
            chosen.append(name)
    return tuple(chosen[:limit])


def _fitting(hits: Sequence[Evidence], covers: Mapping[str, float]) -> list[Evidence]:
    """Those that cover half as much as the best one does, and the first few in any case:
    search by meaning knows other words for it."""
    top = max(covers.values(), default=0.0)
    return [
        hit
        for at, hit in enumerate(hits)
        if not hit.meta.get("superseded_by") and not hit.meta.get("duplicate_of")
        if at < _FIRST or (top > 0 and covers.get(hit.id, 0.0) >= _FITTING * top)
    ]


def _by_document(hits: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    """Path → its hits; the document whose three best hits score most comes first."""
    found: dict[str, list[Evidence]] = {}
    for hit in hits:
        found.setdefault(str(hit.meta.get("path") or label(hit)), []).append(hit)
    weight = {path: sum(hit.score for hit in mine[:3]) for path, mine in found.items()}
    return {path: found[path] for path in sorted(found, key=lambda p: -weight[p])}


def title_of(hit: Evidence) -> str:
    """The title of a hit's document, short enough for a list."""
    return _clean(str(hit.meta.get("title") or hit.meta.get("path") or ""))


def _section(hit: Evidence) -> str:
    """The heading of a hit, where its document is known already."""
    return label(hit).removeprefix(f"{title_of(hit)} › ")


def _clean(text: str) -> str:
    text = _NUMBERING.sub("", " ".join(text.split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())
