"""What a run's log stores of events, and the ledger folded from it: what each role has cost."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from naisei.core import Event, Usage, Where

__all__ = [
    "EPISODES_INDEX",
    "INSERT_EVENT",
    "INSERT_EXCHANGE",
    "INSERT_LOST",
    "SCHEMA",
    "SELECT_EVENTS",
    "SPENT",
    "UNIQUE_STEPS",
    "USAGE",
    "Ledger",
    "Spent",
    "Texts",
    "dump",
    "event",
    "event_row",
    "exchange_row",
    "usage",
    "usage_row",
]


#: A reference to a stored text is this mark and its number; so is any string that
#: happens to begin with the mark.
_MARK = "\x00"
_LONG = 160
_REMEMBERED = 50_000


class Texts:
    """The table `texts`: content-addressed strings. Not thread-safe; see `RunLog`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: OrderedDict[bytes, int] = OrderedDict()

    def forget(self) -> None:
        """After a rollback: what was remembered may not be stored."""
        self._known.clear()

    def pack(self, value: JsonValue) -> JsonValue:
        """The value with its long strings replaced by references."""
        if isinstance(value, str):
            return self._put(value) if len(value) > _LONG or value.startswith(_MARK) else value
        if isinstance(value, list):
            return [self.pack(v) for v in value]
        if isinstance(value, dict):
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
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        number = self._known.get(digest)
        if number is None:
            number = self._stored(digest, text)
            self._known[digest] = number
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return f"{_MARK}{number}"

    def _stored(self, digest: bytes, text: str) -> int:
        found = self._db.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if found is not None:
            return int(found[0])
        done = self._db.execute("INSERT INTO texts(digest, text) VALUES (?, ?)", (digest, text))
        return int(done.lastrowid or 0)

    def _get(self, reference: str) -> str:
        number = int(reference[len(_MARK) :])
        (text,) = self._db.execute("SELECT text FROM texts WHERE id = ?", (number,)).fetchone()
        return str(text)


Row = tuple[Any, ...]

#: Columns of `usage_row`.
USAGE = (
    "role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired, "
    "lost_input, lost_output"
)
_EVENT = (
    f"episode, instance, trial, path, kind, digest, request, result, failure, seconds, at, {USAGE}"
)
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts(id INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, text TEXT);
CREATE TABLE IF NOT EXISTS events(seq INTEGER PRIMARY KEY, {_EVENT});
CREATE TABLE IF NOT EXISTS episodes(
  episode TEXT PRIMARY KEY, instance TEXT NOT NULL, trial INTEGER NOT NULL,
  result TEXT, failure TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS lost(seq INTEGER PRIMARY KEY, episode TEXT NOT NULL, at REAL, {USAGE});
CREATE TABLE IF NOT EXISTS exchanges(seq INTEGER PRIMARY KEY, episode TEXT NOT NULL, path TEXT,
  role TEXT, model TEXT, cached_input INTEGER, reasoning INTEGER, left_out TEXT, sent TEXT);
"""
#: A step is there once. Older logs have an index of their episodes instead, which this does
#: the work of.
UNIQUE_STEPS = """
CREATE UNIQUE INDEX IF NOT EXISTS events_step ON events(episode, path);
DROP INDEX IF EXISTS events_episode;
"""
#: For a log of an earlier version that holds a step twice.
EPISODES_INDEX = "CREATE INDEX IF NOT EXISTS events_episode ON events(episode)"
INSERT_EVENT = f"INSERT INTO events({_EVENT}) VALUES ({','.join('?' * 22)})"
SELECT_EVENTS = f"SELECT {_EVENT} FROM events"
#: Of events and failed tries together: role, model, calls without a price, then what
#: `naisei.runs.ledger.Spent.add` takes.
SPENT = """
SELECT role, model,
  sum(CASE WHEN usd IS NULL AND NOT cached AND input_tokens + output_tokens > 0
      THEN max(calls, 1) ELSE 0 END),
  sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  sum(lost_input + lost_output), sum(cached), sum(repaired), total(usd)
FROM (
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM events WHERE role IS NOT NULL
  UNION ALL
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM lost WHERE role IS NOT NULL)
GROUP BY role, model"""
#: What went over the line for one call. path: `NULL` for a failed try that left no event.
INSERT_EXCHANGE = """INSERT INTO exchanges(
  episode, path, role, model, cached_input, reasoning, left_out, sent) VALUES (?,?,?,?,?,?,?,?)"""
INSERT_LOST = f"INSERT INTO lost(episode, at, {USAGE}) VALUES ({','.join('?' * 13)})"


# Made once: `json.dumps` with options makes an encoder a call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: JsonValue) -> str:
    return _encode(value)


def usage_row(used: Usage | None) -> Row:
    if used is None:
        return (None,) * 11
    u = used
    tokens = (u.input_tokens, u.output_tokens)
    lost = (u.lost_input, u.lost_output)
    return (u.role, u.model, u.calls, u.attempts, *tokens, u.usd, u.cached, u.repaired, *lost)


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
        event.seconds,
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
