"""When a document took effect, which is a newer edition of which, and which are copies.

A document's date is what its front matter says, else its text, else its name. How much of two
documents is the same: MinHash over runs of five characters. The share of equal places of two
signatures estimates the Jaccard index of the two texts' sets of runs, standard error below 0.05.
Sources: Broder, On the resemblance and containment of documents, 1997; one hash for all places,
and empty ones filled: Shrivastava & Li, ICML 2014.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.japanese.dates import dates_in, effective_date, is_old, is_series, version_of, work_name
from naisei.retrieval.types import Passage

if TYPE_CHECKING:
    from naisei.retrieval.loaders.blocks import Read

__all__ = [
    "PLACES",
    "Dated",
    "Known",
    "Relation",
    "alike",
    "dated",
    "likely_pairs",
    "relations",
    "signature",
]


PLACES = 128  # the greatest 7 bits of a hash say which
_EMPTY = np.uint64(2**64 - 1)
_RUN, _BANDS = 5, 32
#: Characters that are looked at, and the most documents of one band that are compared.
_MOST, _CROWD = 50_000, 50
_SPACE = re.compile(r"[\W_]+")


def signature(passages: Iterable[Passage]) -> bytes:
    """`PLACES` numbers of 32 bits; marks, spaces, width and case do not count."""
    text = "".join(passage.text for passage in passages)[:_MOST]
    folded = _SPACE.sub("", unicodedata.normalize("NFKC", text).casefold()).ljust(_RUN)
    codes = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    runs = np.zeros(len(codes) - _RUN + 1, dtype=np.uint64)
    for i in range(_RUN):
        runs = runs * np.uint64(1_000_003) + codes[i : len(codes) - _RUN + 1 + i]
    # A finaliser (murmur3's), so that the greatest bits depend on all others.
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        runs = (runs ^ (runs >> np.uint64(33))) * np.uint64(factor)
    runs ^= runs >> np.uint64(33)
    least = np.full(PLACES, _EMPTY, dtype=np.uint64)
    np.minimum.at(least, (runs >> np.uint64(57)).astype(np.intp), runs & _EMPTY >> np.uint64(7))
    filled = np.flatnonzero(least != _EMPTY)
    # An empty place takes over the next that is filled, marked by how far away that is.
    ahead = filled[np.searchsorted(filled, np.arange(PLACES)) % len(filled)]
    far = (ahead - np.arange(PLACES)) % PLACES
    return (
        ((least[ahead] >> np.uint64(25)) + far.astype(np.uint64) * np.uint64(0x9E3779B1))
        .astype("<u4")
        .tobytes()
    )


def alike(one: bytes, two: bytes) -> float:
    """0 to 1."""
    return float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(two, "<u4")))


def likely_pairs(signatures: list[bytes]) -> Iterator[tuple[int, int]]:
    """Pairs (i < j) that may be alike by more than half: those with an equal band. Each once."""
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


#: Best first.
_KEYS = (
    ("施行日", "適用日", "発効日", "effective", "effective_date", "effective-date"),
    ("改定日", "改訂日", "改正日", "revised", "revision_date", "最終改定日", "最終改訂日"),
    ("更新日", "最終更新日", "updated", "last_updated", "lastmod", "modified"),
    ("date", "日付", "発行日", "公開日", "published"),
    ("制定日", "作成日", "created"),
)
#: Passages from either end that may say when a document took effect.
_ENDS = 12
_HISTORY = ("履歴", "附則", "附 則", "改定", "改訂", "施行", "history")


@dataclass(frozen=True, slots=True)
class Dated:
    """date: when it took effect; source: where that stands, `front matter`, `text` or `name`;
    version: numbers after a v in its name, (2, 1) for v2.1."""

    date: dt.date | None = None
    source: str = ""
    version: tuple[int, ...] = ()


def dated(name: str, read: Read) -> Dated:
    """name: the path within the folder."""
    path = PurePosixPath(name)
    stated = read.meta.get("version") or read.meta.get("版")
    version = (
        version_of(path.stem)
        or (version_of(f"v{str(stated).lstrip('vV')}") if stated else ())
        or version_of(read.title)
    )
    for source, when in (
        ("front matter", _stated(read.meta)),
        ("text", _said(read.title, read.passages)),
        ("name", _named(path)),
    ):
        if when is not None:
            return Dated(when, source, version)
    return Dated(version=version)


def _stated(meta: Mapping[str, JsonValue]) -> dt.date | None:
    folded = {key.strip().lower(): value for key, value in meta.items()}
    for keys in _KEYS:
        for key in keys:
            if isinstance(value := folded.get(key), str) and (found := dates_in(value)):
                return found[0].date
    return None


def _said(title: str, passages: Sequence[Passage]) -> dt.date | None:
    """The latest date of those that the text is surest of."""
    found = [effective_date(title)]
    for n, passage in enumerate(passages):
        under = passage.headings[-1] if passage.headings else ""
        history = under if any(word in under.lower() for word in _HISTORY) else ""
        if history or n < _ENDS or n >= len(passages) - _ENDS:
            found.append(effective_date(passage.text, history))
            found.append(effective_date(under))
    sure = [when for when in found if when is not None]
    return max(sure)[1] if sure else None


def _named(path: PurePosixPath) -> dt.date | None:
    """The last date in the file's name, else in its nearest folder's that has one."""
    for part in (path.stem, *reversed(path.parts[:-1])):
        spaced = part.replace("_", " ")
        if found := dates_in(spaced):
            return found[-1].date
        years = [w for w in spaced.replace("-", " ").split() if w.isascii() and w.isdigit()]
        if years and len(years[-1]) == 4 and years[-1][:2] in ("19", "20"):
            return dt.date(int(years[-1]), 1, 1)
    return None


#: How much two documents of one name must share to be editions of each other; documents of a
#: series (minutes, newsletters) have one name and replace nothing.
_SAME_WORK, _SAME_IN_SERIES = 0.08, 0.8
_COPY = 0.8
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Known:
    """What relations are told by. replaces: what its front matter says (`supersedes`)."""

    id: int
    path: str
    title: str
    date: dt.date | None
    version: tuple[int, ...]
    signature: bytes
    replaces: tuple[str, ...] = ()


@dataclass(slots=True)
class Relation:
    """Paths; None where there is no such document."""

    superseded_by: str | None = None
    duplicate_of: str | None = None


def relations(documents: Sequence[Known]) -> dict[int, Relation]:
    """Document id → what it is to others, for those that are something.

    Superseded: an older edition of one work: the same name but for dates, versions and words
    such as 旧, and some text in common; older by date, else by 旧 in its name, else by version.
    The newest of the editions is named. Duplicate: another document with nearly the same text.
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
    """(older, newest) of each work, then what front matter says outright."""
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
    """Documents that share a name, by title or by file."""
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
    """Whether `one` is an earlier edition of `two`, which ranks before it."""
    least = _SAME_IN_SERIES if is_series(f"{one.path} {one.title}") else _SAME_WORK
    if alike(one.signature, two.signature) < least:
        return False
    if is_old(one.path + one.title) and not is_old(two.path + two.title):
        return True
    if one.date and two.date:
        return one.date < two.date or (one.date == two.date and one.version < two.version)
    return bool(two.version) and one.version < two.version
