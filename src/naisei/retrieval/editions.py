"""Finds newer editions and copies of documents.

Similarity of two documents: MinHash over 5-character n-grams. The share of equal signature slots
estimates the Jaccard index of the two n-gram sets, with a standard error below 0.05.
Sources: Broder, On the resemblance and containment of documents, 1997; one hash for all slots
with empty slots filled: Shrivastava & Li, ICML 2014.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from naisei.japanese.dates import is_old, is_series, work_name
from naisei.retrieval.types import Passage

PLACES = 128  # selected by the top 7 bits of a hash
_EMPTY = np.uint64(2**64 - 1)
_RUN, _BANDS = 5, 32
#: Characters that are hashed, and the most documents compared per band.
_MOST, _CROWD = 50_000, 50
_SPACE = re.compile(r"[\W_]+")


def signature(passages: Iterable[Passage]) -> bytes:
    """`PLACES` 32-bit numbers. Ignores punctuation, spaces, width and case."""
    text = "".join(passage.text for passage in passages)[:_MOST]
    folded = _SPACE.sub("", unicodedata.normalize("NFKC", text).casefold()).ljust(_RUN)
    codes = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    runs = np.zeros(len(codes) - _RUN + 1, dtype=np.uint64)
    for i in range(_RUN):
        runs = runs * np.uint64(1_000_003) + codes[i : len(codes) - _RUN + 1 + i]
    # Murmur3's finaliser, so that the highest bits depend on all others.
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        runs = (runs ^ (runs >> np.uint64(33))) * np.uint64(factor)
    runs ^= runs >> np.uint64(33)
    least = np.full(PLACES, _EMPTY, dtype=np.uint64)
    np.minimum.at(least, (runs >> np.uint64(57)).astype(np.intp), runs & _EMPTY >> np.uint64(7))
    filled = np.flatnonzero(least != _EMPTY)
    # An empty slot copies the next filled one, marked with its distance.
    ahead = filled[np.searchsorted(filled, np.arange(PLACES)) % len(filled)]
    far = (ahead - np.arange(PLACES)) % PLACES
    return (
        ((least[ahead] >> np.uint64(25)) + far.astype(np.uint64) * np.uint64(0x9E3779B1))
        .astype("<u4")
        .tobytes()
    )


def alike(one: bytes, two: bytes) -> float:
    """Similarity, 0 to 1."""
    return float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(two, "<u4")))


def likely_pairs(signatures: list[bytes]) -> Iterator[tuple[int, int]]:
    """Yield once each pair (i < j) that may share more than half: those with an equal band."""
    if not signatures:
        return
    table: npt.NDArray[np.uint32] = np.stack([np.frombuffer(s, "<u4") for s in signatures])
    seen: set[tuple[int, int]] = set()
    width = PLACES // _BANDS
    for band in range(_BANDS):
        buckets: dict[bytes, list[int]] = {}
        for i, row in enumerate(table[:, band * width : (band + 1) * width]):
            buckets.setdefault(row.tobytes(), []).append(i)
        for bucket in buckets.values():
            for pair in combinations(bucket[:_CROWD], 2):
                if pair not in seen:
                    seen.add(pair)
                    yield pair


#: The similarity above which documents with one name are editions of each other; documents of a
#: series (minutes, newsletters) share a name but replace nothing.
_SAME_WORK, _SAME_IN_SERIES = 0.08, 0.8
_COPY = 0.8
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Known:
    """Data for finding relations. replaces: `supersedes` of the front matter."""

    id: int
    path: str
    title: str
    date: dt.date | None
    version: tuple[int, ...]
    signature: bytes
    replaces: tuple[str, ...] = ()


@dataclass(slots=True)
class Relation:
    """Paths of related documents, or `None`."""

    superseded_by: str | None = None
    duplicate_of: str | None = None


def relations(documents: Sequence[Known]) -> dict[int, Relation]:
    """Map document ids to their relation to others, if any.

    Superseded: an older edition of a work. Its name is the same except for dates, versions and
    words such as 旧, and some text is shared. It is older by date, else by 旧 in its name, else by
    version; the newest edition is reported. Duplicate: another document with nearly the same text.
    """
    found: dict[int, Relation] = defaultdict(Relation)
    for older, newer in _superseded(documents):
        found[older.id].superseded_by = newer.path
    known = {d.id: d for d in documents}
    for i, j in likely_pairs([d.signature for d in documents]):
        first, second = sorted((documents[i], documents[j]), key=_rank, reverse=True)
        if found[second.id].superseded_by or found[first.id].superseded_by:
            continue
        if found[second.id].duplicate_of or found[first.id].duplicate_of:
            continue
        if alike(first.signature, second.signature) >= _COPY:
            found[second.id].duplicate_of = first.path
    return {n: r for n, r in found.items() if n in known and (r.superseded_by or r.duplicate_of)}


def _superseded(documents: Sequence[Known]) -> Iterable[tuple[Known, Known]]:
    """Yield (older, newest) for each work, then for front matter."""
    for work in _works(documents):
        newest: list[Known] = []
        for document in sorted(work, key=_rank, reverse=True):
            over = next((n for n in newest if _older(document, n)), None)
            if over is not None:
                yield document, over
            else:
                newest.append(document)
    for newer in documents:
        for name in newer.replaces:
            for older in documents:
                if older is not newer and name in (older.path, PurePosixPath(older.path).name):
                    yield older, newer


def _works(documents: Sequence[Known]) -> Iterable[list[Known]]:
    """Yield groups of documents with the same title or file name."""
    by_name: dict[str, list[Known]] = defaultdict(list)
    for document in documents:
        names = {work_name(document.title), work_name(PurePosixPath(document.path).stem)}
        for name in names:
            if len(name) >= _SHORTEST:
                by_name[name].append(document)
    return (work for work in by_name.values() if len(work) > 1)


def _rank(document: Known) -> tuple[bool, dt.date, tuple[int, ...], str]:
    return not is_old(document.path), document.date or dt.date.min, document.version, document.path


def _older(one: Known, two: Known) -> bool:
    """Whether `one` is an earlier edition than `two`."""
    least = _SAME_IN_SERIES if is_series(f"{one.path} {one.title}") else _SAME_WORK
    if alike(one.signature, two.signature) < least:
        return False
    if is_old(one.path + one.title) and not is_old(two.path + two.title):
        return True
    if one.date and two.date:
        return one.date < two.date or (one.date == two.date and one.version < two.version)
    return bool(two.version) and one.version < two.version
