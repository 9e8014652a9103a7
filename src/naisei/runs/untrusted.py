"""Logs that somebody else may have made: nothing in them but what a log has."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache

from naisei.runs import rows

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


@cache
def _schema() -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(rows.SCHEMA)
        return frozenset(db.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))


def check_schema(db: sqlite3.Connection) -> None:
    """Before anything else is asked of a file: no view, trigger, generated column or expression,
    which SQLite would evaluate.

    Raises:
        ValueError: it holds what a log does not, in words.
    """
    query = "SELECT name, coalesce(sql, ''), type FROM sqlite_master LIMIT 50"
    there = {(name, sql): kind for name, sql, kind in db.execute(query)}
    for (name, _), kind in sorted(there.items(), key=str):
        if (name, _) not in _schema():
            raise ValueError(f"{kind} {name}")
    if lacking := _schema() - there.keys():
        raise ValueError(", ".join(sorted(name for name, _ in lacking)))


def check_rows(db: sqlite3.Connection) -> None:
    """Raises `ValueError` that names a table with rows of another type or range."""
    for table, asked in _ROWS.items():
        used = _USED if table in ("events", "lost") else {}
        conditions = [
            f"({condition.format(column)})"
            for given in (asked, used)
            for condition, columns in given.items()
            for column in columns
        ]
        query = f"SELECT 1 FROM {table} WHERE NOT coalesce({' AND '.join(conditions)}, 0) LIMIT 1"
        if db.execute(query).fetchone():
            raise ValueError(table)
