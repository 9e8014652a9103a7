"""The chain of a log: digests by which a row that was changed, or is gone, is noticed.

Each row keeps a digest of itself and of the row before it: an event's of the event before it in
its episode, the first one's of the frozen configuration (`origin`). Long texts take part with
their own digests. Beside the log lies its head (`naisei.runs.head`), a list of every row that was
committed: without it, the loss of the last rows, or of a whole episode, would leave a chain that
holds. Neither is a signature: who may write the files can make both anew. They tell of damage, and
of a stale or a foreign part.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from naisei.runs import ledger
from naisei.runs.head import Key, line

#: The note of a log that says what its chain begins with.
CHAIN_KEY = "chain"

# A value that is a reference to a text, in JSON as `ledger.dump` writes it; not a key, nor the end
# of a string that holds such marks itself.
_REFERENCE = re.compile(r'(?<!\\)"\\u0000(\d{1,15})"(?!:)')


def genesis(origin: str, name: str) -> bytes:
    """What the first row of an episode, or a row that follows none, is chained to."""
    return blake2b(f"{origin}\n{name}".encode("utf-8", "replace"), digest_size=16).digest()


def row_link(previous: bytes, texts: Iterable[bytes], row: Sequence[object]) -> bytes:
    """The digest of a row. texts: digests of the texts that it refers to, in order."""
    return blake2b(b"".join((previous, *texts, to_json(row))), digest_size=16).digest()


def event_link(previous: bytes, texts: Iterable[bytes], row: Sequence[Any]) -> bytes:
    """As `row_link`, for a row of `ledger.event_row`. Its request and result are JSON, which
    holds no control characters, and are not encoded again."""
    small = to_json([*row[:6], *row[8:]])
    stored = f"{row[6]}\n{row[7]}".encode("utf-8", "surrogatepass")
    return blake2b(b"".join((previous, *texts, small, b"\n", stored)), digest_size=16).digest()


def references(*packed: str) -> list[int]:
    """Numbers of the texts that stored JSON refers to, in order."""
    return [int(n) for text in packed if "\\u0000" in text for n in _REFERENCE.findall(text)]


def rechained(db: sqlite3.Connection, origin: str, *, check: bool = True) -> bytes:
    """Give every row of a log its digest, of an earlier version, too, within a transaction of the
    caller's; the lines of its head. Nothing is known of what happened to it before.

    Raises:
        ValueError: rows are not such as a log has, unless `check` is off.
    """
    _add_columns(db)
    if check:
        ledger.check_rows(db)
    exchanges = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'exchanges'").fetchone()
    return relinked(db, origin, exchanges=exchanges is not None)


def _add_columns(db: sqlite3.Connection) -> None:
    for table in ("meta", "events", "episodes", "lost", "exchanges"):
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        if columns and "chain" not in columns:
            db.execute(f"ALTER TABLE {table} ADD COLUMN chain BLOB")
        if table == "episodes" and "after" not in columns:
            db.execute("ALTER TABLE episodes ADD COLUMN after BLOB")


def relinked(db: sqlite3.Connection, origin: str, *, exchanges: bool = True) -> bytes:
    """A new digest for every row, within a transaction of the caller's; the lines of the head.
    exchanges: whether the log has such a table."""
    texts = dict(db.execute("SELECT id, digest FROM texts"))
    last: dict[str, bytes] = {}
    of_event: dict[tuple[str, str | None], bytes] = {}
    lines = []

    def keep(
        table: str, by: str, value: object, link: bytes, key: Key, tokens: int = 0, usd: float = 0
    ) -> None:
        db.execute(f"UPDATE {table} SET chain = ? WHERE {by} = ?", (link, value))
        lines.append(line(link, tokens, usd, key))

    for seq, *row in db.execute(f"SELECT seq, {ledger.EVENT} FROM events ORDER BY seq").fetchall():
        used = [texts[n] for n in references(row[6], row[7])]
        link = event_link(last.get(row[0]) or genesis(origin, row[0]), used, row)
        last[row[0]] = of_event[row[0], row[3]] = link
        cost = ((row[15] or 0) + (row[16] or 0), row[17])
        keep("events", "seq", seq, link, ("event", row[0], row[3]), *cost)
    if exchanges:
        found = db.execute(f"SELECT seq, {ledger.EXCHANGE} FROM exchanges").fetchall()
        for seq, *row in found:
            before = of_event.get((row[0], row[1])) or genesis(origin, row[0])
            link = row_link(before, [texts[n] for n in references(row[-1])], row)
            keep("exchanges", "seq", seq, link, ("exchange", seq))
    for seq, *row in db.execute(f"SELECT seq, {ledger.LOST} FROM lost").fetchall():
        cost = ((row[6] or 0) + (row[7] or 0), row[8])
        keep("lost", "seq", seq, row_link(genesis(origin, row[0]), (), row), ("lost", seq), *cost)
    for *row, _ in db.execute(f"SELECT {ledger.EPISODE} FROM episodes").fetchall():
        begin = genesis(origin, row[0])
        after = last.get(row[0], begin)
        db.execute("UPDATE episodes SET after = ? WHERE episode = ?", (after, row[0]))
        link = row_link(begin, (), [*row, after.hex()])
        keep("episodes", "episode", row[0], link, ("episode", row[0]))
    for name, value in db.execute("SELECT key, value FROM meta").fetchall():
        link = row_link(genesis(origin, ""), (), [name, value])
        keep("meta", "key", name, link, ("note", name))
    return b"".join(lines)
