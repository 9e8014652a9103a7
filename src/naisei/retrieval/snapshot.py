"""One searchable generation of an index, and filters on its rows.

| key | value | a chunk matches if |
|---|---|---|
| `path` | a glob, or several: `規程/*.md` | its path matches one (`*` crosses `/`) |
| `format` | `pdf`, or several | its document has one of these formats |
| `date` | `{"from": …, "to": …}`, either end may be missing | its document's date is in the range |
| `headings` | words, or several | a heading above it, or the title, contains one |
| anything else | a text, or several | its front matter has one of them under that key |

Width and case are ignored. All keys must match.
"""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from naisei.core import InputError, fingerprint
from naisei.japanese.dates import is_old
from naisei.lang import say
from naisei.retrieval.editions import relations
from naisei.retrieval.permissions import may_find
from naisei.retrieval.seal import check
from naisei.retrieval.store import CHUNKS, ChunkRow, Store, folder_of
from naisei.retrieval.types import Chunk
from naisei.retrieval.vectors import SpanIndex, VectorIndex
from naisei.retrieval.words import WordIndex
from naisei.similarity import Floats

_OWN = ("path", "format", "date", "headings")
#: (path, format, date, meta) → whether it matches.
_DocumentTest = Callable[[str, str, dt.date | None, Mapping[str, JsonValue]], bool]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _test(key: str, value: Any) -> _DocumentTest:
    if key == "date":
        when = _period(value)
        return lambda path, form, date, meta: date is not None and when.first <= date <= when.last
    wanted = tuple(map(_fold, _texts(key, value)))
    if key == "path":
        return lambda path, form, date, meta: any(fnmatchcase(_fold(path), w) for w in wanted)
    if key == "format":
        return lambda path, form, date, meta: form in wanted
    return lambda path, form, date, meta: any(
        _fold(str(said)) in wanted for said in _list(meta.get(key))
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(key: str, value: Any) -> tuple[str, ...]:
    found = (value,) if isinstance(value, (str, int, float)) else value
    if not isinstance(found, Collection) or isinstance(found, (Mapping, bytes)):
        raise InputError(
            say(
                f"{value!r} は文字列でも文字列の並びでもありません",
                f"{value!r} is not a text or list of texts",
            ),
            place=f"filter {key}",
        )
    return tuple(str(text) for text in found)


class _Period(BaseModel):
    """From the first to the last day; either may be missing."""

    model_config = ConfigDict(extra="forbid")

    first: dt.date = Field(default=dt.date.min, alias="from")
    last: dt.date = Field(default=dt.date.max, alias="to")


def _period(value: Any) -> _Period:
    try:
        if not value:
            raise ValueError("nothing")
        return _Period.model_validate(value)
    except ValueError:  # pydantic's too
        raise InputError(
            say(f"{value!r} は期間ではありません", f"{value!r} is not a range of dates"),
            place="filter date",
            remedy='{"from": "2024-04-01", "to": "2025-03-31"}',
        ) from None


class Gone(Exception):
    """The generation was deleted after newer ones."""


class Filed:
    """A document of the generation. newer: path of the edition that supersedes it. twin: path of
    the document it duplicates. groups: who may see it; `None`: public. url: its public URL."""

    __slots__ = (
        *("date", "format", "groups", "id", "meta", "newer", "old", "path", "title", "twin", "url"),
    )

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: int = row[0]
        self.path: str = row[1]
        self.title: str = row[2]
        self.format: Any = row[3]
        self.date = dt.date.fromisoformat(row[4]) if row[4] else None
        self.meta: dict[str, JsonValue] = json.loads(row[5])
        self.old = is_old(self.path) or is_old(self.title)
        self.newer: str | None = row[6]
        self.twin: str | None = row[7]
        self.groups: tuple[str, ...] | None = None if row[8] is None else tuple(json.loads(row[8]))
        self.url: str | None = row[9]


class Snapshot:
    """Rows are chunks, numbered from 0 in the order of their documents.

    groups: visible groups; `None`: all. Forbidden documents are invisible, also in word statistics
    and editions.

    Not thread-safe: call whatever uses the store under the index's lock.
    """

    def __init__(
        self,
        store: Store,
        directory: Path,
        generation: int,
        groups: Collection[str] | None = None,
    ) -> None:
        """Raises `Gone`."""
        self._generation, self._store = generation, store
        folder = folder_of(directory, generation)
        self.embedder = self._embedder()
        try:
            check(folder, store.digest(generation))
        except InputError:
            self._embedder()  # deleted in the meantime?
            raise
        every = {row[0]: Filed(row) for row in store.filed(generation)}
        self.filed = {n: f for n, f in every.items() if may_find(groups, f.groups, f.meta)}
        only: npt.NDArray[np.int64] | None = None
        try:
            chunks: npt.NDArray[np.int64] = np.load(folder / CHUNKS)
            if len(self.filed) < len(every):
                seen = np.array(list(self.filed), dtype=np.int64)
                only = np.flatnonzero(np.isin(chunks[:, 1], seen)).astype(np.int64)
            self.vectors = VectorIndex(folder, only)
            self.spans = SpanIndex(folder, only)
            self.words = WordIndex(folder, len(chunks), only)
            self._chunks = chunks if only is None else chunks[only]
            #: Folder and name prefix of the cache for these documents.
            self.folder = folder
            self.part = "" if only is None else f"part-{fingerprint(list(self.filed))[:16]}-"
            if only is not None:
                self._relate_anew()
        except FileNotFoundError as error:
            raise Gone from error

    def _embedder(self) -> str | None:
        """The embedder's name, if any. Raises `Gone`."""
        row = self._store.db.execute(
            "SELECT embedder FROM generations WHERE id = ?", (self._generation,)
        ).fetchone()
        if row is None:
            raise Gone
        name: str | None = row[0]
        return name

    def _relate_anew(self) -> None:
        """Relate editions and copies among these documents only."""
        documents = list(dict.fromkeys(int(n) for n in self._chunks[:, 1]))
        related = relations(list(self._store.known(documents)))
        for number, filed in self.filed.items():
            relation = related.get(number)
            filed.newer = relation.superseded_by if relation else None
            filed.twin = relation.duplicate_of if relation else None

    def __len__(self) -> int:
        return len(self._chunks)

    def document(self, row: int) -> Filed:
        return self.filed[int(self._chunks[row, 1])]

    @cached_property
    def keys(self) -> frozenset[str]:
        """All front matter keys."""
        return frozenset(key for filed in self.filed.values() for key in filed.meta)

    def mean_cosine(self, cosines: Floats, vector: npt.NDArray[np.float32]) -> float:
        """The mean cosine: this vector's baseline."""
        return float(cosines.mean()) if len(cosines) else 0.0

    def mask(self, filters: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Matching rows; shape (rows,). Raises `InputError`."""
        for key in filters:
            if key not in _OWN and key not in self.keys:
                usable = ", ".join([*_OWN, *sorted(self.keys)])
                raise InputError(
                    say(f"{key!r} を持つ資料がありません", f"no document has {key!r}"),
                    place=f"filter {key}",
                    remedy=say(f"使えるもの: {usable}", f"use {usable}"),
                )
        tests = [_test(key, value) for key, value in filters.items() if key != "headings"]
        fitting = [
            n
            for n, filed in self.filed.items()
            if all(test(filed.path, filed.format, filed.date, filed.meta) for test in tests)
        ]
        mask = np.isin(self._chunks[:, 1], np.array(fitting, dtype=np.int64))
        if words := tuple(map(_fold, _texts("headings", filters.get("headings", ())))):
            rows = np.flatnonzero(mask)
            mask[rows] = [any(w in self._folded_titles[row] for w in words) for row in rows]
        return mask

    @cached_property
    def _folded_titles(self) -> list[str]:
        """Title and headings of each row, folded."""
        found = {number: headings for number, _, headings in self._headings()}
        return [self._folded_title(self.filed[int(d)], found[int(c)]) for c, d in self._chunks]

    def _headings(self) -> list[tuple[int, int, str]]:
        """Number, document and headings (JSON) of each chunk, ordered by number.
        Raises `Gone`, and `InputError` if a chunk has changed."""
        members = "document IN (SELECT document FROM members WHERE generation = ?)"
        found = self._store.chunks(members, (self._generation,))
        mine = [(c.id, c.document, c.headings) for c in found if c.document in self.filed]
        if [number for number, *_ in mine] != np.sort(self._chunks[:, 0]).tolist():
            raise Gone
        return mine

    def _folded_title(self, filed: Filed, headings: str) -> str:
        """Title and headings (JSON), folded."""
        return _fold("\n".join([filed.title, *json.loads(headings)]))

    def _stored(self, row: int) -> ChunkRow:
        """Raises `Gone`, and `InputError` if the row has changed."""
        number, document = map(int, self._chunks[row])
        found = next(self._store.chunks("id = ? AND document = ?", (number, document)), None)
        if found is None:
            raise Gone
        return found

    def outline(self) -> list[tuple[str, tuple[str, ...]]]:
        """(title, headings in order) of each document, except outdated editions and copies."""
        found: dict[int, dict[str, None]] = {}
        for _, number, headings in self._headings():
            filed = self.filed[number]
            if not (filed.newer or filed.twin or filed.old):
                names = (h for h in json.loads(headings) if h != filed.title)
                found.setdefault(number, {}).update(dict.fromkeys(names))
        return [(self.filed[number].title, tuple(names)) for number, names in found.items()]

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of `rows`, in order. Raises `Gone`."""
        return [self._as_chunk(self._stored(row)) for row in rows]

    def named(self, name: str) -> Chunk | None:
        """The chunk with this id, if it exists. Raises `Gone`."""
        # An id starts with its document's path; chunks are indexed by document.
        filed = self._paths.get(name.rpartition("#")[0])
        if filed is None:
            return None
        chunks = self._store.chunks("document = ? AND name = ?", (filed.id, name))
        return next(map(self._as_chunk, chunks), None)

    @cached_property
    def _paths(self) -> dict[str, Filed]:
        return {filed.path: filed for filed in self.filed.values()}

    def _as_chunk(self, row: ChunkRow) -> Chunk:
        filed = self.filed[row.document]
        more: dict[str, JsonValue] = {
            "superseded_by": filed.newer,
            "duplicate_of": filed.twin,
            "old": filed.old,
            "url": filed.url,
            "cut_table": self._goes_on(row),
        }
        return Chunk(
            id=row.name,
            path=filed.path,
            title=filed.title,
            headings=tuple(json.loads(row.headings)),
            page=row.page,
            text=row.text,
            format=filed.format,
            date=filed.date,
            meta=filed.meta | {key: value for key, value in more.items() if value},
        )

    def _goes_on(self, row: ChunkRow) -> bool:
        """Whether a table of the chunk has rows in the chunk before or after it."""
        lines = row.text.split("\n")
        for number, edge, at in ((row.id - 1, lines[0], -1), (row.id + 1, lines[-1], 0)):
            if edge.startswith("|"):
                query = "SELECT text FROM chunks WHERE id = ? AND document = ? AND headings = ?"
                other = self._store.db.execute(
                    query, (number, row.document, row.headings)
                ).fetchone()
                if other is not None and other[0].split("\n")[at].startswith("|"):
                    return True
        return False
