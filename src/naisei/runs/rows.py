"""The tables of a log, and events as rows."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue
from pydantic_core import to_json

from naisei.core import Event, Usage, Where

if TYPE_CHECKING:
    from naisei.runs.integrity import Findings

#: A reference to a stored text is this mark and the text's number; other strings that contain the
#: mark are also stored as texts.
_MARK = "\x00"
#: Matches a reference in JSON as `dump` writes it, but not a key or the end of a string that
#: contains such marks.
_REFERENCE = re.compile(r'(?<!\\)"\\u0000(\d{1,15})"(?!:)')
_LONG = 160
_REMEMBERED = 50_000
_RECENT, _RECENT_LENGTH = 128, 20_000


def references(*packed: object) -> list[int]:
    """Return the numbers of the texts that stored JSON refers to, in order."""
    texts = (text for text in packed if isinstance(text, str) and "\\u0000" in text)
    return [int(n) for text in texts for n in _REFERENCE.findall(text)]


def text_digest(text: object) -> bytes:
    """Return the digest of a text of the table `texts`; empty for other values."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).digest() if isinstance(data, bytes) else b""


class StepThere(Exception):
    """The log already has an event at this step."""


class Rows(Protocol):
    """Storage of a log's rows: a file or a database. place: its name in errors."""

    place: Path

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        """Return a cursor. Raises `InputError`, `LogBusy`, `StepThere`."""
        ...

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]: ...

    def replace(self, table: str, values: Sequence[object]) -> None:
        """Insert a row or replace the one with its key. values: see `TABLES`; then a digest."""
        ...

    def transaction(self, *, erases: bool = False) -> AbstractContextManager[bool]:
        """Open an atomic, exclusive transaction; yields whether others wrote since the last."""
        ...

    def check_writer(self, episode: str) -> None:
        """Check the writer within a transaction that adds to the episode. Raises `EpisodeBusy` if
        another process took over the episode."""
        ...

    def writing(self, episode: str) -> AbstractContextManager[None]: ...

    def verified(self) -> Findings: ...

    def close(self) -> None: ...


class Texts:
    """The table `texts`: content-addressed strings. Not thread-safe; see `RunLog`.

    digests: digests of the texts that `pack` found, in order, for the digest of the row that
    refers to them. Cleared per row.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.digests: list[bytes] = []
        self._known: OrderedDict[bytes, int] = OrderedDict()
        # Keyed by the text: each call contains its prompt twice, in its request and as sent.
        self._recent: dict[str, tuple[bytes, str]] = {}

    def forget(self) -> None:
        """Clear the cache after a rollback."""
        self._known.clear()
        self._recent.clear()

    def sweep(self) -> None:
        """Delete unreferenced texts."""
        used: set[int] = set()
        for query in ("SELECT request, result FROM events", "SELECT sent FROM exchanges"):
            for row in self.rows.select(query):
                used |= {*references(*row)}
        for (number,) in self.rows.select("SELECT id FROM texts"):
            if number not in used:
                self.rows.execute("DELETE FROM texts WHERE id = ?", (number,))
        self.forget()

    def pack(self, value: Any) -> Any:
        """Return the value (JSON) with its long strings replaced by references."""
        kind = type(value)
        if kind is str:
            return self._put(value) if len(value) > _LONG or value[:1] == _MARK else value
        if kind is list:
            return [self.pack(v) for v in value]
        if kind is dict:
            return {k: self.pack(v) for k, v in value.items()}
        return value

    def unpack(self, value: JsonValue) -> JsonValue:
        """Return the value as it was before `pack`."""
        if isinstance(value, str):
            return self.get(int(value[1:]))[1] if value.startswith(_MARK) else value
        if isinstance(value, list):
            return [self.unpack(v) for v in value]
        if isinstance(value, dict):
            return {k: self.unpack(v) for k, v in value.items()}
        return value

    def _put(self, text: str) -> str:
        if (met := self._recent.get(text)) is not None:
            self.digests.append(met[0])
            return met[1]
        digest = text_digest(text)
        number = self._known.get(digest)
        if number is None:
            number = self._stored(digest, text)
            self._known[digest] = number
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self.digests.append(digest)
        reference = f"{_MARK}{number}"
        if len(text) <= _RECENT_LENGTH:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent[text] = digest, reference
        return reference

    def _stored(self, digest: bytes, text: str) -> int:
        # UTF-8, since a PostgreSQL `text` cannot contain NUL.
        add = "INSERT INTO texts(digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id"
        found = self.rows.execute(add, (digest, text.encode())).fetchone()
        if found is None:
            query = "SELECT id FROM texts WHERE digest = ?"
            found = self.rows.execute(query, (digest,)).fetchone()
        return int(found[0])

    def get(self, number: int) -> tuple[bytes, str]:
        """Return the digest and text stored under a number.

        Raises:
            KeyError: the text is missing or its digest differs.
        """
        query = "SELECT digest, text FROM texts WHERE id = ?"
        found = self.rows.execute(query, (number,)).fetchone()
        if found is None:
            raise KeyError(number)
        digest, data = map(bytes, found)
        if text_digest(data) != digest:
            raise KeyError(number)
        return digest, data.decode()


Row = tuple[Any, ...]

#: Columns of `usage_row`.
USAGE = (
    "role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired, "
    "lost_input, lost_output"
)
EVENT = (
    f"episode, instance, trial, path, kind, digest, request, result, failure, seconds, at, {USAGE}"
)
EXCHANGE = "episode, path, role, model, cached_input, reasoning, left_out, sent"
LOST = f"episode, at, {USAGE}"
#: events: number of events of the episode at that time.
EPISODE = "episode, instance, trial, result, failure, at, events"
_TYPES = {
    **dict.fromkeys(
        (
            *("trial", "calls", "attempts", "input_tokens", "output_tokens", "cached", "repaired"),
            *("lost_input", "lost_output", "cached_input", "reasoning", "events"),
        ),
        "INTEGER CHECK({0} BETWEEN 0 AND 9007199254740992)",
    ),
    **dict.fromkeys(("seconds", "at", "usd"), "REAL CHECK({0} BETWEEN 0 AND 1e15)"),
    "path": "TEXT CHECK({0} NOT GLOB '*[^0-9.]*' AND length({0}) < 1000)",
}


def column_type(column: str) -> str:
    """Return the type of a column: TEXT, INTEGER or REAL."""
    return _TYPES.get(column, "TEXT").split()[0]


def _declared(columns: str, always: str) -> str:
    """Return column declarations in SQL. always: columns that are never NULL."""
    return ", ".join(
        f"{name} {_TYPES.get(name, 'TEXT').format(name)}{' NOT NULL' * (name in always.split())}"
        for name in columns.split(", ")
    )


_NAMED = "(episode = instance || '#' || trial)"
#: Declares what a row may contain, so that `PRAGMA quick_check` detects rows written by other
#: programs.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum BLOB)
  WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS texts(
  id INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, text BLOB) STRICT;
CREATE TABLE IF NOT EXISTS events(seq INTEGER PRIMARY KEY,
  {_declared(EVENT, "episode instance trial path kind digest request result")},
  checksum BLOB, CHECK{_NAMED}) STRICT;
CREATE TABLE IF NOT EXISTS episodes(
  {_declared(EPISODE, "episode instance trial failure at events")}, checksum BLOB,
  PRIMARY KEY(episode), CHECK{_NAMED}) STRICT;
CREATE TABLE IF NOT EXISTS lost(
  seq INTEGER PRIMARY KEY, {_declared(LOST, "episode")}, checksum BLOB) STRICT;
CREATE TABLE IF NOT EXISTS exchanges(
  seq INTEGER PRIMARY KEY, {_declared(EXCHANGE, "episode sent")}, checksum BLOB) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS events_step ON events(episode, path);
"""
#: For each table whose rows have digests: the key of a row, and its columns.
TABLES = {
    "events": ("seq", EVENT),
    "exchanges": ("seq", EXCHANGE),
    "lost": ("seq", LOST),
    "episodes": ("episode", EPISODE),
    "meta": ("key", "key, value"),
}


INSERT_EVENT = f"INSERT INTO events({EVENT}, checksum) VALUES ({','.join('?' * 23)})"
#: Requests and raw replies of one call. path: `NULL` for a failed attempt without an event.
INSERT_EXCHANGE = f"INSERT INTO exchanges({EXCHANGE}, checksum) VALUES (?,?,?,?,?,?,?,?,?)"
INSERT_LOST = f"INSERT INTO lost({LOST}, checksum) VALUES ({','.join('?' * 14)})"

# Made once: `json.dumps` with options makes an encoder per call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: JsonValue) -> str:
    """Return compact JSON."""
    try:
        return to_json(value).decode()  # takes a third of the time
    except ValueError:  # too deeply nested for it, or not JSON: raises the usual error
        return _encode(value)


def usage_row(used: Usage | None) -> Row:
    if used is None:
        return (None,) * 11
    u = used
    tokens = (u.input_tokens, u.output_tokens)
    lost = (u.lost_input, u.lost_output)
    # As SQLite returns it: it has no booleans, and stores NaN as NULL.
    usd = None if u.usd is None or math.isnan(u.usd) else float(u.usd)
    flags = (int(u.cached), int(u.repaired))
    return (u.role, u.model, u.calls, u.attempts, *tokens, usd, *flags, *lost)


def usage(row: Row) -> Usage | None:
    if row[0] is None:
        return None
    role, model, calls, attempts, read, written, usd, cached, repaired, *lost = row
    known = (role, model, calls, attempts, read, written, usd, bool(cached), bool(repaired))
    return Usage(*known, *lost)


def exchange_row(episode: str, path: str | None, used: Usage, texts: Texts) -> Row:
    told = (e.get("left_out", []) for e in used.sent if isinstance(e, dict))
    left_out = sorted({str(name) for names in told if isinstance(names, list) for name in names})
    counts = (used.cached_input, used.reasoning)
    sent = dump(texts.pack(list(used.sent)))
    return (episode, path, used.role, used.model, *counts, ", ".join(left_out), sent)


def event_row(event: Event, texts: Texts) -> Row:
    where = event.where
    # ASCII, since the message of a failure may contain anything.
    failure = None if event.failure is None else json.dumps(event.failure)
    return (
        where.episode,
        where.instance,
        where.trial,
        where.step,
        event.kind,
        event.digest,
        dump(texts.pack(event.request)),
        dump(texts.pack(event.result)),
        failure,
        float(event.seconds),
        time.time(),
        *usage_row(event.usage),
    )


def event(row: Row, texts: Texts) -> Event:
    _, instance, trial, step, kind, digest, request, result, failure, seconds, _, *used = row
    path = tuple(int(n) for n in step.split(".")) if step else ()
    failed = None if failure is None else tuple(json.loads(failure))
    return Event(
        where=Where(instance, trial, path),
        kind=kind,
        digest=digest,
        request=texts.unpack(json.loads(request)),
        result=texts.unpack(json.loads(result)),
        failure=failed,
        usage=usage(tuple(used)),
        seconds=seconds,
    )
