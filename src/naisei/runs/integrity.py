"""Whether a log is as it was written: a digest of each row, and one of the closed file.

The digest of an event covers the event before it in its episode, that of the first one the frozen
configuration (`origin`); those of other rows cover the configuration. Long texts take part by
their own digests. So a row that was changed is noticed, and one that is gone from within an
episode. That the last rows are gone shows in the digest of the whole file, which whoever closes
the log last puts beside it; and while a killed process's WAL is still there, in the checksums of
that (`naisei.runs.wal`). None of them is a signature: who may write the files can make all anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue
from pydantic_core import to_json

from naisei.core import InputError
from naisei.files import plain_file, write_atomically
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.frozen import listed

#: The note of a log that says what its digests begin with.
CHAIN_KEY = "chain"
#: Runs a SELECT.
Select = Callable[..., Iterable[Sequence[Any]]]


def genesis(origin: str, name: str) -> bytes:
    """What the first row of an episode, or a row that follows none, is chained to."""
    return blake2b(f"{origin}\n{name}".encode("utf-8", "replace"), digest_size=16).digest()


def row_digest(previous: bytes, texts: Iterable[bytes], row: Sequence[object]) -> bytes:
    """The digest of a row. texts: digests of the texts that it refers to, in order."""
    return blake2b(b"".join((previous, *texts, to_json(row))), digest_size=16).digest()


class Row(NamedTuple):
    """A row as it is stored. expected: the digest that it should have; `None` if that cannot be
    told, since a text or a row that it refers to is gone."""

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


def walk(select: Select, origin: str, *, anew: bool = False) -> Iterator[Row]:
    """Every row of a log with the digest that it should have, the events first, in their order.

    Memory grows with the number of episodes and of long texts, not of rows. anew: digests follow
    from rows as they stand now, whatever is stored.
    """
    last: dict[str, bytes] = {}
    texts = _texts(select)
    for table, (by, columns) in rows.TABLES.items():
        query = f"SELECT {by}, chain, {columns} FROM {table} ORDER BY {by}"
        for key, digest, *values in select(query):
            begin = genesis(origin, "" if table == "meta" else str(values[0]))
            before = last.get(values[0], begin)
            expected = None
            with suppress(LookupError, TypeError, ValueError):
                used = [texts[n] for n in rows.references(*values[6:8])]
                if table == "episodes":
                    _check_after(select, values, before, begin, anew=anew)
                expected = row_digest(before if table == "events" else begin, used, values)
            if table == "events":
                last[values[0]] = expected if anew and expected else digest
            yield Row(table, key, values, digest, expected)


def _check_after(
    select: Select, values: list[Any], last: bytes, begin: bytes, *, anew: bool
) -> None:
    """Raises `LookupError` where an outcome follows an event that is not there."""
    if anew:
        values[-1] = last.hex()
    if values[-1] in (last.hex(), begin.hex()):
        return
    query = "SELECT 1 FROM events WHERE episode = ? AND chain = ?"
    if not [*select(query, (values[0], bytes.fromhex(values[-1])))]:
        raise LookupError(values[-1])


def _texts(select: Select) -> dict[int, bytes]:
    """Digests of sound texts by number."""
    return {
        number: digest
        for number, digest, text in select("SELECT id, digest, text FROM texts")
        if rows.text_digest(text) == digest
    }


def digest_anew(db: Any, origin: str) -> None:
    """Give every row of a log its digest, within a transaction of the caller's."""
    changed = [
        (row.table, row.key, row.expected, row.values[-1] if row.table == "episodes" else None)
        for row in walk(db.execute, origin, anew=True)
        if not row.sound
    ]
    for table, key, digest, after in changed:
        if after is not None:
            db.execute("UPDATE episodes SET after = ? WHERE episode = ?", (after, key))
        by, _ = rows.TABLES[table]
        db.execute(f"UPDATE {table} SET chain = ? WHERE {by} = ?", (digest, key))


# What is found.


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong at one place. episode, step: empty where it is not of one."""

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
    """What a check of a log found. events, episodes: sound ones."""

    events: int = 0
    episodes: int = 0
    damages: list[Damage] = field(default_factory=list)

    def text(self) -> str:
        """In words, a line a damage."""
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
        """Raises `InputError` that names the damage, if there is any."""
        if not self.damages:
            return
        shown = listed(list(map(str, self.damages)))
        folder = place.parent
        raise InputError(
            say(f"実行の記録が壊れています:{shown}", f"the log of the run is damaged:{shown}"),
            place=str(place),
            remedy=say(
                f"`naisei runs check {folder}` で全部見られます。"
                f"`naisei runs repair {folder}` で無事な部分から続けられます",
                f"`naisei runs check {folder}` shows all of it; "
                f"`naisei runs repair {folder}` keeps what is sound",
            ),
        )


def verified_rows(select: Select, origin: str) -> Findings:
    """All rows held against their digests."""
    found = Findings()
    for row in walk(select, origin):
        if not row.sound:
            found.damages.append(Damage(_what(row), row.episode, row.step))
        found.events += row.table == "events" and row.sound
        found.episodes += row.table == "episodes" and row.sound
    return found


def _what(row: Row) -> str:
    name = f"{row.table} {row.key}" if row.table == "meta" else row.table
    if row.expected is None:
        return say(
            f"{name}: 参照する本文か行が失われています",
            f"{name}: refers to a text or a row that is gone or changed",
        )
    return say(
        f"{name}: 記録されたときと内容が違うか、直前の行がありません",
        f"{name}: is not as it was recorded, or the one before it is gone",
    )


@dataclass(frozen=True, slots=True)
class Outside:
    """What a file of a log tells before it is opened. sealed: see `_sealed`. lost: what says that
    rows may be gone."""

    sealed: bool | None = None
    lost: tuple[Damage, ...] = ()


def outside(path: Path) -> Outside:
    """Of a log that nobody writes now."""
    lost = []
    if os.path.lexists(wal_of(path)):
        from naisei.runs.wal import torn  # of a killed process

        if why := torn(wal_of(path)):
            lost.append(Damage(f"{wal_of(path).name}: {why}"))
    if (whole := _sealed(path)) is False:
        what = say("閉じたときのものではありません", "is not as it was when it was closed")
        lost.append(Damage(say(f"{path.name} は{what}", f"{path.name} {what}")))
    return Outside(whole, tuple(lost))


def verified_file(db: sqlite3.Connection, origin: str, seen: Outside) -> Findings:
    """A log in a file, held against its digests. db: sees all of it, in a transaction."""
    found = Findings()
    try:
        check = "quick_check" if seen.sealed else "integrity_check"
        if told := wrong_structure(db, check):
            found.damages.append(Damage(told))
        elif seen.sealed:
            ((found.events,),) = db.execute("SELECT count(*) FROM events")
            ((found.episodes,),) = db.execute("SELECT count(*) FROM episodes")
        else:
            found = verified_rows(db.execute, origin)
    except sqlite3.DatabaseError as error:
        found.damages.append(Damage(_structure(str(error))))
    found.damages += seen.lost
    return found


def wrong_structure(db: sqlite3.Connection, check: str = "quick_check") -> str:
    """What of the database is damaged, or is no row that a log has; empty if nothing is."""
    told = [str(row[0]) for row in db.execute(f"PRAGMA {check}(5)")]
    if told == ["ok"]:
        query = "SELECT 1 FROM {} WHERE NOT ({}) LIMIT 1"
        asked = {table: query.format(table, rows.checks(table)) for table in rows.TABLES}
        told = [f"rows of {table}" for table, one in asked.items() if db.execute(one).fetchone()]
        told = told or ["ok"]
    return "" if told == ["ok"] else _structure("; ".join(told))


def _structure(what: str) -> str:
    return say(f"データベースの構造か行の型: {what}", f"structure or types of the database: {what}")


@cache
def _schema() -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(rows.SCHEMA)
        return frozenset(db.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))


def check_schema(db: sqlite3.Connection) -> None:
    """Before anything else is asked of a file: no view, trigger, generated column or expression of
    others, which SQLite would evaluate.

    Raises:
        ValueError: names what it holds that a log does not, or lacks.
    """
    query = "SELECT name, coalesce(sql, '') FROM sqlite_master LIMIT 50"
    if other := _schema() ^ {*db.execute(query)}:
        raise ValueError(", ".join(sorted({str(name) for name, _ in other})))


# The digest of the closed file.


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def seal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.digest")


def _sealed(path: Path) -> bool | None:
    """Whether a file is as it was when it was closed; `None` where that cannot be told: its digest
    is not there, or it was gone on with by a process that was killed."""
    plain_file(seal_of(path))
    with suppress(FileNotFoundError):
        if wal_of(path).stat().st_size:
            return None
    try:
        known = seal_of(path).read_bytes()[:64].strip()
    except FileNotFoundError:
        return None
    return known == _digest(path)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest().encode()


def seal(path: Path) -> None:
    """Put the digest of a file that was closed beside it."""
    plain_file(seal_of(path))
    if not wal_of(path).exists():
        write_atomically(seal_of(path), _digest(path) + b"\n")


def unseal(path: Path) -> None:
    """Before a file changes."""
    plain_file(seal_of(path))
    seal_of(path).unlink(missing_ok=True)
