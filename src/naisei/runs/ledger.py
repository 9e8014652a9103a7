"""What a run's log stores of events, and the ledger folded from it: what each role has cost."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue
from pydantic_core import to_json

from naisei.core import Event, Usage, Where

#: A reference to a stored text is this mark and its number; so is any string that
#: happens to begin with the mark.
_MARK = "\x00"
#: As it stands in JSON.
_REFERENCE = re.compile(r'"\\u0000([0-9]+)"')
_LONG = 160
_REMEMBERED = 50_000
_RECENT, _RECENT_LENGTH = 128, 20_000


class Texts:
    """The table `texts`: content-addressed strings. Not thread-safe; see `RunLog`.

    digests: of the texts that `pack` has met, in order, for the digest of the row that refers to
    them. Whoever makes a row clears it.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.digests: list[bytes] = []
        self._known: OrderedDict[bytes, int] = OrderedDict()
        # By the text itself: a prompt comes with every call, in its request and as it was sent.
        self._recent: dict[str, tuple[bytes, str]] = {}

    def forget(self) -> None:
        """After a rollback: what was remembered may not be stored."""
        self._known.clear()
        self._recent.clear()

    def sweep(self) -> None:
        """Take away what no row refers to any more."""
        used: set[int] = set()
        for column in ("request", "result"):
            for (text,) in self.db.execute(f"SELECT {column} FROM events"):
                used |= {int(n) for n in _REFERENCE.findall(text or "")}
        for (text,) in self.db.execute("SELECT sent FROM exchanges"):
            used |= {int(n) for n in _REFERENCE.findall(text or "")}
        gone = [n for (n,) in self.db.execute("SELECT id FROM texts") if n not in used]
        self.db.executemany("DELETE FROM texts WHERE id = ?", ((n,) for n in gone))
        self.forget()

    def pack(self, value: Any) -> Any:
        """The value (JSON) with its long strings replaced by references."""
        kind = type(value)
        if kind is str:
            return self._put(value) if len(value) > _LONG or value[:1] == _MARK else value
        if kind is list:
            return [self.pack(v) for v in value]
        if kind is dict:
            return {k: self.pack(v) for k, v in value.items()}
        return value

    def unpack(self, value: JsonValue) -> JsonValue:
        """The value as it was before `pack`."""
        if isinstance(value, str):
            return self._get(value) if value.startswith(_MARK) else value
        if isinstance(value, list):
            return [self.unpack(v) for v in value]
        if isinstance(value, dict):
            return {k: self.unpack(v) for k, v in value.items()}
        return value

    def _put(self, text: str) -> str:
        if (met := self._recent.get(text)) is not None:
            self.digests.append(met[0])
            return met[1]
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
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
        found = self.db.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if found is not None:
            return int(found[0])
        done = self.db.execute("INSERT INTO texts(digest, text) VALUES (?, ?)", (digest, text))
        return int(done.lastrowid or 0)

    def _get(self, reference: str) -> str:
        return self.get(int(reference[len(_MARK) :]))[1]

    def get(self, number: int) -> tuple[bytes, str]:
        """Digest and text of a number.

        Raises:
            KeyError: there is none, or it is not the text that was put there.
        """
        query = "SELECT digest, text FROM texts WHERE id = ?"
        try:
            found = self.db.execute(query, (number,)).fetchone()
        except sqlite3.Error as error:
            raise KeyError(number) from error
        text = found[1] if found is not None else None
        data = text.encode() if isinstance(text, str) else text
        if found is None or not isinstance(data, bytes):
            raise KeyError(number)
        if hashlib.blake2b(data, digest_size=16).digest() != found[0]:
            raise KeyError(number)
        return found[0], text if isinstance(text, str) else data.decode()


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
#: after: the digest of the last event that the episode had by then.
EPISODE = "episode, instance, trial, result, failure, at, after"
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL, chain BLOB)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts(id INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, text TEXT);
CREATE TABLE IF NOT EXISTS events(seq INTEGER PRIMARY KEY, {EVENT}, chain BLOB);
CREATE TABLE IF NOT EXISTS episodes(
  episode TEXT PRIMARY KEY, instance TEXT NOT NULL, trial INTEGER NOT NULL,
  result TEXT, failure TEXT NOT NULL, at REAL NOT NULL, after BLOB, chain BLOB);
CREATE TABLE IF NOT EXISTS lost(
  seq INTEGER PRIMARY KEY, episode TEXT NOT NULL, at REAL, {USAGE}, chain BLOB);
CREATE TABLE IF NOT EXISTS exchanges(seq INTEGER PRIMARY KEY, episode TEXT NOT NULL, path TEXT,
  role TEXT, model TEXT, cached_input INTEGER, reasoning INTEGER, left_out TEXT, sent TEXT,
  chain BLOB);
"""
#: What a log of before the chain lacks.
CHAINED = """
ALTER TABLE meta ADD COLUMN chain BLOB;
ALTER TABLE events ADD COLUMN chain BLOB;
ALTER TABLE episodes ADD COLUMN after BLOB;
ALTER TABLE episodes ADD COLUMN chain BLOB;
ALTER TABLE lost ADD COLUMN chain BLOB;
ALTER TABLE exchanges ADD COLUMN chain BLOB;
"""
#: A step is there once. Older logs have an index of their episodes instead, which this does
#: the work of.
UNIQUE_STEPS = """
CREATE UNIQUE INDEX IF NOT EXISTS events_step ON events(episode, path);
DROP INDEX IF EXISTS events_episode;
"""
#: For a log of an earlier version that holds a step twice.
EPISODES_INDEX = "CREATE INDEX IF NOT EXISTS events_episode ON events(episode)"
INSERT_EVENT = f"INSERT INTO events({EVENT}, chain) VALUES ({','.join('?' * 23)})"
INSERT_EPISODE = f"INSERT OR REPLACE INTO episodes({EPISODE}, chain) VALUES (?,?,?,?,?,?,?,?)"
#: Of events and failed tries together: role, model, calls without a price, then what
#: `naisei.runs.ledger.Spent.add` takes.
SPENT = """
SELECT role, model,
  sum(CASE WHEN usd IS NULL AND cached = 0 AND input_tokens + output_tokens > 0
      THEN max(calls, 1) ELSE 0 END),
  sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  sum(lost_input + lost_output), sum(cached), sum(repaired), total(usd)
FROM (
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM events WHERE role IS NOT NULL
  UNION ALL
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM lost WHERE role IS NOT NULL) AS each
GROUP BY role, model"""
#: What the effects of each episode cost, as `USAGE` after the episode, a row for each role and
#: model. {}: the table.
USED = """
SELECT episode, role, model, sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  CASE WHEN sum(CASE WHEN usd IS NULL AND calls > 0 THEN 1 ELSE 0 END) = 0 THEN sum(usd) END,
  cached, repaired, sum(lost_input), sum(lost_output)
FROM {} WHERE role IS NOT NULL GROUP BY episode, role, model, cached, repaired
ORDER BY min(seq)"""
#: What went over the line for one call. path: `NULL` for a failed try that left no event.
INSERT_EXCHANGE = f"INSERT INTO exchanges({EXCHANGE}, chain) VALUES (?,?,?,?,?,?,?,?,?)"
INSERT_TEXT = "INSERT OR IGNORE INTO texts VALUES (?,?,?)"
INSERT_NOTE = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
INSERT_LOST = f"INSERT INTO lost({LOST}, chain) VALUES ({','.join('?' * 14)})"

_TABLES = {
    "meta": "key, value",
    "texts": "id, digest, text",
    "events": f"seq, {EVENT}",
    "episodes": "episode, instance, trial, result, failure, at",
    "lost": f"seq, {LOST}",
    "exchanges": f"seq, {EXCHANGE}",
}
_INDEXES = {"events_step", "events_episode"}
# No view, trigger, generated column, CHECK or expression: nothing of the file's own that SQLite
# would evaluate.
_PLAIN_TABLE = re.compile(r"CREATE TABLE \"?\w+\"?\s*\([\w\s,]+\)(\s*WITHOUT ROWID)?", re.I)
_PLAIN_INDEX = re.compile(r"CREATE (UNIQUE )?INDEX \w+ ON \w+\([\w\s,]+\)", re.I)
_COUNT = "{0} IS NULL OR (typeof({0})='integer' AND {0} BETWEEN 0 AND 9007199254740992)"
_NUMBER = "{0} IS NULL OR (typeof({0}) IN ('integer','real') AND {0} BETWEEN 0 AND 1e15)"
_TEXT, _TEXT_OR_NONE = "typeof({0})='text'", "typeof({0}) IN ('text','null')"
_USED: dict[str, Sequence[str]] = {
    _TEXT_OR_NONE: ("role", "model"),
    _COUNT: (
        "calls",
        "attempts",
        "input_tokens",
        "output_tokens",
        "cached",
        "repaired",
        "lost_input",
        "lost_output",
    ),
    _NUMBER: ("usd",),
}
_NAME = "typeof(instance)='text' AND typeof(trial)='integer' AND episode=instance||'#'||trial"
_STEP = "typeof(path)='text' AND path NOT GLOB '*[^0-9.]*' AND length(path) < 1000"
#: What every row is, whoever wrote it: table → condition on columns.
_ROWS: dict[str, dict[str, Sequence[str]]] = {
    "events": {
        _NAME: ("",),
        _STEP: ("",),
        _TEXT: ("kind", "digest", "request", "result"),
        _TEXT_OR_NONE: ("failure",),
        _NUMBER: ("seconds", "at"),
    },
    "episodes": {_NAME: ("",), _TEXT_OR_NONE: ("result",), _TEXT: ("failure",), _NUMBER: ("at",)},
    "lost": {_TEXT: ("episode",), _NUMBER: ("at",)},
    "exchanges": {
        _TEXT: ("episode", "sent"),
        _TEXT_OR_NONE: ("path", "role", "model", "left_out"),
        _COUNT: ("cached_input", "reasoning"),
    },
    "meta": {_TEXT: ("key", "value")},
}


def check_schema(db: sqlite3.Connection) -> bool:
    """Before anything else is asked of a file that somebody else may have made; whether its rows
    have digests.

    Raises:
        ValueError: it holds what a log does not, in words.
    """
    there: dict[str, bool] = {}
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master LIMIT 50"):
        if kind == "index":
            own = sql is None or (name in _INDEXES and _PLAIN_INDEX.fullmatch(str(sql).strip()))
        else:
            own = kind == "table" and name in _TABLES and _PLAIN_TABLE.fullmatch(str(sql).strip())
        if not own:
            raise ValueError(f"{kind} {name}")
        if kind == "table":
            columns = {row[1] for row in db.execute(f"PRAGMA table_xinfo({name})")}
            if lacking := {c.strip() for c in _TABLES[name].split(",")} - columns:
                raise ValueError(f"{name}: {', '.join(sorted(lacking))}")
            there[name] = name == "texts" or "chain" in columns
    # `exchanges` came later than the others.
    if lacking := _TABLES.keys() - there.keys() - {"exchanges"}:
        raise ValueError(", ".join(sorted(lacking)))
    return all(there.values())


def check_rows(db: sqlite3.Connection) -> None:
    """Raises `ValueError` that names a table with rows of another type or range."""
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    for table, asked in _ROWS.items():
        used = _USED if table in ("events", "lost") else {}
        conditions = [
            f"({condition.format(column)})"
            for given in (asked, used)
            for condition, columns in given.items()
            for column in columns
        ]
        query = f"SELECT 1 FROM {table} WHERE NOT coalesce({' AND '.join(conditions)}, 0) LIMIT 1"
        if table in known and db.execute(query).fetchone():
            raise ValueError(table)


# Made once: `json.dumps` with options makes an encoder a call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: JsonValue) -> str:
    """As compact JSON."""
    try:
        return to_json(value).decode()  # a third of the time
    except ValueError:  # too deep for it, or no JSON: says so in the usual way
        return _encode(value)


def usage_row(used: Usage | None) -> Row:
    if used is None:
        return (None,) * 11
    u = used
    tokens = (u.input_tokens, u.output_tokens)
    lost = (u.lost_input, u.lost_output)
    # As SQLite gives it back: it has no truth values, and keeps NaN as NULL.
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
    # ASCII, since the message of a failure may hold anything.
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


@dataclass(slots=True)
class Spent:
    """What one role has cost. lost: tokens of replies that were no answer, which are among
    the others; so are cached_input (read from the endpoint's cache of prefixes) and reasoning.
    cached: calls answered from a cache of replies. unpriced: calls whose price is unknown."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lost: int = 0
    cached: int = 0
    repaired: int = 0
    usd: float = 0.0
    unpriced: int = 0
    cached_input: int = 0
    reasoning: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(
        self,
        unpriced: int,
        calls: int,
        attempts: int,
        input_tokens: int,
        output_tokens: int,
        lost: int,
        cached: int,
        repaired: int,
        usd: float,
    ) -> None:
        """Count what was counted elsewhere."""
        self.unpriced += unpriced
        self.calls += calls
        self.attempts += attempts
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.lost += lost
        self.cached += cached
        self.repaired += repaired
        self.usd += usd

    def to_json(self) -> dict[str, JsonValue]:
        """As in the result object: input, output, total, lost tokens, calls, attempts, …"""
        return {
            "input": self.input_tokens,
            "output": self.output_tokens,
            "total": self.tokens,
            "lost": self.lost,
            "calls": self.calls,
            "attempts": self.attempts,
            "cached": self.cached,
            "repaired": self.repaired,
            "cached_input": self.cached_input,
            "reasoning": self.reasoning,
            "usd": None if self.unpriced else self.usd,
        }


@dataclass(slots=True)
class Ledger:
    """Totals by role. Failed tries count: they were paid for too."""

    roles: dict[str, Spent] = field(default_factory=dict)
    #: Models that answered without a known price.
    unpriced: set[str] = field(default_factory=set)

    def add(self, usage: Usage | None) -> None:
        if usage is None:
            return
        unpriced = usage.usd is None and bool(usage.tokens) and not usage.cached
        spent = self.roles.setdefault(usage.role, Spent())
        spent.cached_input += usage.cached_input
        spent.reasoning += usage.reasoning
        spent.add(
            max(usage.calls, 1) if unpriced else 0,
            usage.calls,
            usage.attempts,
            usage.input_tokens,
            usage.output_tokens,
            usage.lost_input + usage.lost_output,
            usage.cached,
            usage.repaired,
            usage.usd or 0.0,
        )
        if unpriced:
            self.unpriced.add(usage.model)

    @property
    def tokens(self) -> int:
        return sum(s.tokens for s in self.roles.values())

    @property
    def known_usd(self) -> float:
        """US dollars of the calls whose price is known."""
        return float(sum(s.usd for s in self.roles.values()))

    @property
    def usd(self) -> float | None:
        """US dollars in all; `None` if the price of any call is unknown."""
        return None if self.unpriced else self.known_usd

    def to_json(self) -> dict[str, JsonValue]:
        return {role: spent.to_json() for role, spent in sorted(self.roles.items())}
