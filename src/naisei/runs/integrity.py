"""Integrity of a log: SQLite's own check of its file, and a digest of each row.

A digest covers a row and the digests of the long texts that it refers to. An outcome records the
number of events of its episode, and a sidecar file the number of transactions
(`naisei.runs.sqlite_rows`). Deleting the last rows of an episode without an outcome is not
detected. None of this is a signature: anyone with write access can recreate the files.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue
from pydantic_core import to_json

from naisei.core import InputError
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.frozen import listed

#: Runs a SELECT.
Select = Callable[..., Iterable[Sequence[Any]]]


def row_digest(row: Sequence[object], texts: Iterable[bytes] = ()) -> bytes:
    """texts: digests of the texts that the row refers to, in order."""
    return blake2b(b"".join((*texts, to_json(row))), digest_size=16).digest()


def stored_digest(values: Sequence[Any], text: Callable[[int], bytes]) -> bytes:
    """Return the expected digest of a stored row. text: number of a long text → its digest;
    raises `LookupError` if it is missing."""
    return row_digest(values, [text(n) for n in rows.references(*values[6:8])])


class Row(NamedTuple):
    """A stored row. expected: its expected digest; `None` if a referenced text is missing."""

    table: str
    key: str | int
    values: Sequence[Any]
    digest: bytes
    expected: bytes | None

    @property
    def sound(self) -> bool:
        return self.digest == self.expected

    @property
    def episode(self) -> str:
        return "" if self.table == "meta" else str(self.values[0])

    @property
    def step(self) -> str:
        return str(self.values[3]) if self.table == "events" else ""


def walk(select: Select) -> Iterator[Row]:
    """Yield every row of a log, events first, in order. Memory grows with the number of long
    texts, not with the number of rows."""
    texts = {
        number: digest
        for number, digest, text in select("SELECT id, digest, text FROM texts ORDER BY id")
        if rows.text_digest(text) == digest
    }
    for table, (by, columns) in rows.TABLES.items():
        query = f"SELECT {by}, checksum, {columns} FROM {table} ORDER BY {by}"
        for key, digest, *values in select(query):
            expected = None
            with suppress(LookupError, TypeError, ValueError):
                expected = stored_digest(values, texts.__getitem__)
            yield Row(table, key, values, digest, expected)


def digest_anew(db: Any) -> None:
    """Recompute the digest of every row of a log, within the caller's transaction."""
    changed = [row for row in walk(db.execute) if not row.sound]
    for row in changed:
        by, _ = rows.TABLES[row.table]
        db.execute(f"UPDATE {row.table} SET checksum = ? WHERE {by} = ?", (row.expected, row.key))


# Findings.


@dataclass(frozen=True, slots=True)
class Damage:
    """One instance of damage. episode, step: empty if it concerns none."""

    what: str
    episode: str = ""
    step: str = ""

    def __str__(self) -> str:
        if not self.episode:
            return self.what
        step = say(f" ステップ {self.step}", f" step {self.step}") if self.step else ""
        return say(f"エピソード {self.episode}", f"episode {self.episode}") + f"{step}: {self.what}"


@dataclass(slots=True)
class Findings:
    """The result of a check of a log. events, episodes: number of intact ones."""

    events: int = 0
    episodes: int = 0
    damages: list[Damage] = field(default_factory=list)

    def text(self) -> str:
        """Return the findings as text, one line per damage."""
        if self.damages:
            return "\n".join(map(str, self.damages))
        return say(
            f"無事です (記録 {self.events} 件、終わったエピソード {self.episodes} 件)",
            f"sound: {self.events} events, {self.episodes} ended episodes",
        )

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "sound": not self.damages,
            "events": self.events,
            "episodes": self.episodes,
            "damages": [asdict(damage) for damage in self.damages],
        }

    def refuse(self, place: Path) -> None:
        """Raise `InputError` that names the damage, if there is any."""
        if not self.damages:
            return
        shown = listed(list(map(str, self.damages)))
        folder = place.parent
        raise InputError(
            say(f"実行の記録が壊れています:{shown}", f"the log of the run is damaged:{shown}"),
            place=str(place),
            remedy=say(
                f"控えを戻すか、`naisei runs repair {folder}` で無事なエピソードを残してください",
                f"restore a backup, or keep the sound episodes by `naisei runs repair {folder}`",
            ),
        )


def verified_rows(select: Select) -> Findings:
    """Verify all rows by digest, and outcomes by the number of events."""
    found, events = Findings(), Counter[str]()
    for row in walk(select):
        if not row.sound:
            found.damages.append(Damage(_what(row), row.episode, row.step))
        elif row.table == "events":
            events[row.episode] += 1
        elif row.table == "episodes":
            found.episodes += 1
            if (missing := row.values[-1] - events[row.episode]) > 0:
                what = say(f"記録が {missing} 件失われています", f"{missing} events are gone")
                found.damages.append(Damage(what, row.episode))
    found.events = events.total()
    return found


def _what(row: Row) -> str:
    name = f"{row.table} {row.key}" if row.table == "meta" else row.table
    if row.expected is None:
        return say(
            f"{name}: 参照する本文が失われています", f"{name}: refers to a text that is gone"
        )
    return say(f"{name}: 記録されたときと内容が違います", f"{name}: is not as it was recorded")


def verified_file(db: sqlite3.Connection, commits: bytes) -> Findings:
    """Verify a log file. db: a connection in a transaction that sees the whole log. commits:
    number of transactions in decimal digits; empty if unknown."""
    try:
        told = [str(row[0]) for row in db.execute("PRAGMA integrity_check(5)")]
        if told != ["ok"]:
            return Findings(damages=[Damage(_structure("; ".join(told)))])
        found = verified_rows(db.execute)
        ((there,),) = db.execute("PRAGMA user_version")
    except sqlite3.DatabaseError as error:
        return Findings(damages=[Damage(_structure(str(error)))])
    if commits and not commits.isdigit():
        what = say("書き込みの数が読めません", "the number of its writes cannot be read")
        found.damages.append(Damage(what))
    elif (lost := int(commits or 0) - there) > 0:
        what = say(
            f"最後の書き込み {lost} 件が失われています (WAL の破損や欠落など)",
            f"the last {lost} writes are gone (such as with a damaged or missing WAL)",
        )
        found.damages.append(Damage(what))
    return found


def _structure(what: str) -> str:
    return say(f"データベースの構造か行の型: {what}", f"structure or types of the database: {what}")


@cache
def _schema() -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(rows.SCHEMA)
        return frozenset(db.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))


def check_schema(db: sqlite3.Connection) -> None:
    """Check that a file has no foreign view, trigger, generated column or expression.

    Raises:
        ValueError: names the unexpected or missing schema objects.
    """
    query = "SELECT name, coalesce(sql, '') FROM sqlite_master LIMIT 50"
    if other := _schema() ^ {*db.execute(query)}:
        raise ValueError(", ".join(sorted({str(name) for name, _ in other})))
