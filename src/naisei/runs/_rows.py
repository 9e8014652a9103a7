"""The tables of a run's log, and events as rows of them."""

from __future__ import annotations

import json
import time
from typing import Any

from pydantic import JsonValue

from naisei.core import Event, Usage, Where
from naisei.runs._texts import Texts

__all__ = [
    "EPISODES_INDEX",
    "INSERT_EVENT",
    "INSERT_LOST",
    "SCHEMA",
    "SELECT_EVENTS",
    "SPENT",
    "UNIQUE_STEPS",
    "USAGE",
    "dump",
    "event",
    "event_row",
    "usage",
    "usage_row",
]

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
