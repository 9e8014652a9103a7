"""A sound log read through once beside its head, in memory that does not grow with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from pydantic_core import to_json

from naisei.runs import ledger
from naisei.runs.chain import event_link, genesis, references, row_link
from naisei.runs.head import Listed

if TYPE_CHECKING:
    from naisei.runs.verification import Findings

#: Rows that writers side by side may list in another order than they wrote them.
_APART = 10_000
_TEXTS = 1 << 16
#: A row: its key as the head has it, and its digest in hexadecimal.
_Row = tuple[bytes, bytes]


class _Other(Exception):
    """Something is not as it should be."""


def read_through(db: sqlite3.Connection, origin: str, listed: Listed, found: Findings) -> bool:
    """Whether the log is sound; `found` then says what it holds.

    db, listed: as for `naisei.runs.verification.verified`.
    """
    try:
        _Reading(db, origin, found).all(listed)
    except (_Other, AttributeError, KeyError, TypeError, ValueError, sqlite3.DatabaseError):
        found.last.clear()
        found.events = found.episodes = 0
        return False
    return True


class _Reading:
    def __init__(self, db: sqlite3.Connection, origin: str, found: Findings) -> None:
        self.db, self.origin, self.found = db, origin, found
        self.text = lru_cache(_TEXTS)(self._text)
        #: Digests of events that were read last, by episode and step.
        self.recent: dict[tuple[str, str], bytes] = {}

    def all(self, listed: Listed) -> None:
        for known, text in self.db.execute("SELECT digest, text FROM texts"):
            data = text.encode() if isinstance(text, str) else text
            if not isinstance(data, bytes) or blake2b(data, digest_size=16).digest() != known:
                raise _Other
        rows = {b"event": self._events(), b"exchange": self._exchanges(), b"lost": self._lost()}
        newest = self._beside(listed, rows)
        for key, chain in (*self._episodes(), *self._notes()):
            # What is not listed was written after the head was read.
            if newest.pop(key, chain) != chain:
                raise _Other
        if newest:
            raise _Other

    def _beside(self, listed: Listed, rows: dict[bytes, Iterator[_Row]]) -> dict[bytes, bytes]:
        """Hold the rows of the large tables against the list, both in their order; what the list
        says last of every other row. Raises `_Other`."""
        newest: dict[bytes, bytes] = {}
        ahead: dict[bytes, bytes] = {}
        behind: dict[bytes, bytes] = {}
        for each in listed:
            if not each:
                continue
            chain, tokens, usd, key = each.split(b" ", 3)
            int(tokens), float(usd)
            table = key[2 : key.index(b'"', 2)]
            if table not in rows:
                newest[key] = chain
                continue
            row = next(rows[table], None)
            if row == (key, chain):
                continue
            _met(behind, key, chain, ahead)
            if row is not None:
                _met(ahead, *row, behind)
            if len(behind) > _APART:
                raise _Other
        for left in rows.values():
            for key, chain in left:
                if behind.pop(key, chain) != chain:
                    raise _Other
        if behind:
            raise _Other
        return newest

    def _events(self) -> Iterator[_Row]:
        last = self.found.last
        for chain, *row in self.db.execute(
            f"SELECT chain, {ledger.EVENT} FROM events ORDER BY seq"
        ):
            episode, path = row[0], row[3]
            before = last.get(episode) or genesis(self.origin, episode)
            texts = [self.text(n) for n in references(row[6], row[7])]
            if event_link(before, texts, row) != chain:
                raise _Other
            last[episode] = chain
            self.found.events += 1
            if len(self.recent) > _APART:
                self.recent.clear()
            self.recent[episode, path] = chain
            yield to_json(("event", episode, path)), chain.hex().encode()

    def _exchanges(self) -> Iterator[_Row]:
        for seq, chain, *row in self.db.execute(
            f"SELECT seq, chain, {ledger.EXCHANGE} FROM exchanges ORDER BY seq"
        ):
            before = self._of_event(row[0], row[1])
            if row_link(before, [self.text(n) for n in references(row[-1])], row) != chain:
                raise _Other
            yield to_json(("exchange", seq)), chain.hex().encode()

    def _lost(self) -> Iterator[_Row]:
        for seq, chain, *row in self.db.execute(
            f"SELECT seq, chain, {ledger.LOST} FROM lost ORDER BY seq"
        ):
            if row_link(genesis(self.origin, row[0]), (), row) != chain:
                raise _Other
            yield to_json(("lost", seq)), chain.hex().encode()

    def _episodes(self) -> Iterator[_Row]:
        for chain, *row in self.db.execute(f"SELECT chain, {ledger.EPISODE} FROM episodes"):
            name, after = row[0], row[-1]
            begin = genesis(self.origin, name)
            if row_link(begin, (), [*row[:-1], after.hex()]) != chain:
                raise _Other
            if after not in (self.found.last.get(name), begin) and not self._is_event(name, after):
                raise _Other
            self.found.episodes += 1
            yield to_json(("episode", name)), chain.hex().encode()

    def _notes(self) -> Iterator[_Row]:
        for chain, name, value in self.db.execute("SELECT chain, key, value FROM meta"):
            if row_link(genesis(self.origin, ""), (), [name, value]) != chain:
                raise _Other
            yield to_json(("note", name)), chain.hex().encode()

    def _of_event(self, episode: str, path: str | None) -> bytes:
        """What an exchange is chained to."""
        if path is None:
            return genesis(self.origin, episode)
        if (known := self.recent.get((episode, path))) is not None:
            return known
        found = self.db.execute(
            "SELECT chain FROM events WHERE episode = ? AND path = ?", (episode, path)
        ).fetchone()
        return genesis(self.origin, episode) if found is None else bytes(found[0])

    def _is_event(self, episode: str, chain: bytes) -> bool:
        query = "SELECT 1 FROM events WHERE episode = ? AND chain = ?"
        return self.db.execute(query, (episode, chain)).fetchone() is not None

    def _text(self, number: int) -> bytes:
        found = self.db.execute("SELECT digest FROM texts WHERE id = ?", (number,)).fetchone()
        if found is None:
            raise _Other
        return bytes(found[0])


def _met(mine: dict[bytes, bytes], key: bytes, chain: bytes, theirs: dict[bytes, bytes]) -> None:
    """Keep what the other side has not come to yet. Raises `_Other` where the two differ."""
    other = theirs.pop(key, None)
    if other is None:
        mine[key] = chain
    elif other != chain:
        raise _Other
