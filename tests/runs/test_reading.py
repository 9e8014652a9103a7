"""The reading in little memory says `sound` of exactly what the look at every row says so of."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from naisei.core import Event, Usage, Where
from naisei.runs import reading, verification
from naisei.runs.head import Listed
from naisei.runs.log import RunLog
from naisei.runs.reading import read_through
from naisei.runs.task import EpisodeRow
from naisei.runs.verification import Findings, verified

#: By what a row of each table is known.
_TABLES = {
    "texts": "id",
    "events": "seq",
    "exchanges": "seq",
    "lost": "seq",
    "episodes": "episode",
    "meta": "key",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written by two at once, in every table."""
    path = tmp_path_factory.mktemp("log") / "log.sqlite"
    rng = random.Random(4)
    with closing(RunLog(path)) as one, closing(RunLog(path)) as other:
        steps = {"a": 0, "b": 0, "c": 0}
        for _ in range(24):
            name = rng.choice("abc")
            writer = one if name == "a" else other
            used = Usage("agent", "m", input_tokens=3, sent=({"request": "本文" * 200},))
            where = Where(name, 0, (steps[name],))
            writer.append(Event(where, "act", "d", {"長い": "本文" * 300}, name, usage=used))
            steps[name] += 1
        one.finish(EpisodeRow(Where("a", 0), {"ok": True}), [Usage("agent", "m", calls=1)])
        other.finish(EpisodeRow(Where("b", 0), failure="止まった"))
        one.put("note", "v")
        one.put("note", "w")
    return path


def _read(path: Path, head: bytes) -> tuple[bool, Findings]:
    found = Findings()
    with closing(sqlite3.connect(path)) as db:
        return read_through(db, "", Listed(head), found), found


def _looked(path: Path, head: bytes, monkeypatch: pytest.MonkeyPatch) -> Findings:
    monkeypatch.setattr(verification, "read_through", lambda *_: False)
    with closing(sqlite3.connect(path)) as db:
        found = verified(db, "", Listed(head), chained=True)
    monkeypatch.undo()
    return found


def test_both_ways_find_the_same_in_a_sound_log(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = log.with_name("log.sqlite.head").read_bytes()
    monkeypatch.setattr(reading, "_TEXTS", 1)
    monkeypatch.setattr(reading, "_APART", 2)
    sound, found = _read(log, head)
    looked = _looked(log, head, monkeypatch)
    assert sound and looked.damages == []
    assert (found.events, found.episodes, found.last) == (24, 2, looked.last)
    lines = head.splitlines(keepends=True)
    # Two writers listed their rows in another order than they wrote them.
    mixed = [*lines[:4], *reversed(lines[4:9]), *lines[9:]]
    assert _read(log, b"".join(mixed))[0]
    # Rows that were committed after the head was read.
    assert _read(log, b"".join(lines[:-3]))[0]


def _changed(log: Path, scratch: Path) -> Iterator[str]:
    """The log with one value of one row changed, or one row gone."""
    with closing(sqlite3.connect(log)) as db:
        rows = {
            table: (
                [row[1] for row in db.execute(f"PRAGMA table_info({table})")],
                [key for (key,) in db.execute(f"SELECT {by} FROM {table}")],
            )
            for table, by in _TABLES.items()
        }
    rng = random.Random(5)
    for table, (columns, keys) in rows.items():
        for column in (*columns, ""):
            scratch.unlink(missing_ok=True)
            with closing(sqlite3.connect(log)) as source, closing(sqlite3.connect(scratch)) as db:
                source.backup(db)
                by, key = _TABLES[table], rng.choice(keys)
                if column:
                    value = rng.choice((7, "x", b"x" * 16, None, 1.5))
                    query = f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {by} = ?"
                    try:
                        db.execute(query, (value, key))
                    except sqlite3.IntegrityError:
                        continue
                else:
                    db.execute(f"DELETE FROM {table} WHERE {by} = ?", (key,))
                db.commit()
            yield f"{table}.{column} of {key}"


def test_a_changed_log_is_never_read_as_sound(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = log.with_name("log.sqlite.head").read_bytes()
    told = 0
    for change in _changed(log, tmp_path / "log.sqlite"):
        sound, _ = _read(tmp_path / "log.sqlite", head)
        damages = _looked(tmp_path / "log.sqlite", head, monkeypatch).damages
        assert not (sound and damages), change
        told += not sound
    assert told > 30
    for n, line in enumerate(lines := head.splitlines(keepends=True)):
        if b'"note","note"' not in line:  # the first of two lines of one note says nothing
            other = line.replace(line[:6], b"000000")
            assert not _read(log, b"".join((*lines[:n], other, *lines[n + 1 :])))[0], line
