"""The answer without a model: the passages that cover the question best, as they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from naisei.core import Evidence
from naisei.intent.evidence import coverage
from naisei.japanese.search_tokens import search_tokens

__all__ = ["best_passage", "quoted"]

_ROOM = 240
_PASSAGES = 3
_SENTENCE = re.compile(r"[^。！？!?\n]*(?:[。！？!?]+[」）)]*|\n|$)")


def quoted(
    words: Sequence[str], idf: Mapping[str, float], hits: Sequence[Evidence]
) -> list[tuple[int, str]]:
    """(place of the hit, passage): the best hit first, then those that cover nearly as much.

    At most three; current documents only, unless there are no others.
    """
    current = [at for at, h in enumerate(hits) if not h.meta.get("superseded_by")]
    covers = {at: coverage(words, idf, hits[at]) for at in current or range(len(hits))}
    top = max(covers.values(), default=0.0)
    chosen = [at for at, share in covers.items() if share >= 0.8 * top][:_PASSAGES]
    first = next(iter(covers), None)
    if first is not None and first not in chosen:
        chosen = [first, *chosen][:_PASSAGES]
    return [(at, best_passage(words, idf, hits[at].text)) for at in chosen]


def best_passage(words: Sequence[str], idf: Mapping[str, float], text: str) -> str:
    """The neighbouring sentences or rows of a chunk, up to 240 letters, that hold most of the
    words; the head row of a table goes with its rows."""
    if len(text) <= _ROOM:
        return text.strip()
    pieces = [p for p in _SENTENCE.findall(text) if p.strip()]
    gains = [_gain(words, idf, piece) for piece in pieces]
    best, span = -1.0, (0, 1)
    for start in range(len(pieces)):
        length, total, seen = 0, 0.0, set[str]()
        for end in range(start, len(pieces)):
            length += len(pieces[end])
            if length > _ROOM and end > start:
                break
            total += sum(v for w, v in gains[end].items() if w not in seen)
            seen |= gains[end].keys()
            # Of two spans that hold the same, the shorter one; of those, the first.
            if total - 0.001 * (end - start) > best:
                best, span = total - 0.001 * (end - start), (start, end + 1)
    start, end = span
    while end < len(pieces) and sum(map(len, pieces[start : end + 1])) <= _ROOM:
        end += 1
    head = _head(pieces, start)
    return (head + "".join(pieces[start:end])).strip()


def _head(pieces: Sequence[str], start: int) -> str:
    """The first row of the table that the piece is in, if it is a row that is not the first."""
    if not pieces[start].lstrip().startswith("|"):
        return ""
    first = start
    while first > 0 and pieces[first - 1].lstrip().startswith("|"):
        first -= 1
    return pieces[first] if first < start else ""


def _gain(words: Sequence[str], idf: Mapping[str, float], piece: str) -> dict[str, float]:
    held = set(search_tokens(piece))
    return {w: idf.get(w, 0.0) for w in words if w in held}
