"""Checking the log of a run, and making a sound one of what a damaged one still holds.

What is kept is a log as if the process had been killed earlier: of each episode the events up to
the first that is damaged, and its outcome only if nothing of it is missing. Resuming does the rest
again. The old files stay beside the new ones.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from naisei.core import InputError
from naisei.files import output_error
from naisei.lang import say
from naisei.runs import chain, ledger
from naisei.runs.chain import CHAIN_KEY
from naisei.runs.directory import refuse_links
from naisei.runs.frozen import Frozen
from naisei.runs.head import HEAD_KEY, Entry, Head, Key, entries
from naisei.runs.lock import RunLock
from naisei.runs.report import SUMMARY_KEY
from naisei.runs.stores import LOG, in_database, open_log
from naisei.runs.verification import Damage, Findings

Row = tuple[Any, ...]
_ENDS = ("", "-wal", "-shm", ".head", ".head.next")
#: No log has more rows in a table than this.
_MOST = 10_000_000


def checked(directory: Path) -> Findings:
    """All that is wrong with a run's log. Nothing is written.

    Raises:
        InputError: no run directory.
    """
    refuse_links(directory)
    frozen = Frozen.read(directory / "config.json")
    try:
        log = open_log(directory, read_only=True, origin=frozen.digest, check=False)
        with closing(log):
            return log.verified()
    except InputError as error:
        return Findings(damages=[Damage(error.message)])


@dataclass(slots=True)
class Repaired:
    """What a repair came to. events, episodes: kept. lost: by episode, how many events and from
    which step on. outcomes: of ended episodes, lost. tokens, usd: what the lost had cost, and
    resuming costs again. saved: the old files, or the name that
    the old log has now in its database. other: config.json is not the one that the log began
    with, and was taken as it is."""

    events: int = 0
    episodes: int = 0
    lost: dict[str, tuple[int, str]] = field(default_factory=dict)
    outcomes: list[str] = field(default_factory=list)
    tokens: int = 0
    usd: float = 0.0
    saved: list[Path | str] = field(default_factory=list)
    other: bool = False

    def text(self) -> str:
        """In words."""
        lines = [
            say(
                f"記録 {self.events} 件、終わったエピソード {self.episodes} 件が無事です",
                f"sound: {self.events} events, {self.episodes} ended episodes",
            )
        ]
        for episode, (n, step) in sorted(self.lost.items()):
            lines.append(
                say(
                    f"エピソード {episode}: ステップ {step} 以降の {n} 件を失いました",
                    f"episode {episode}: {n} events from step {step} on are lost",
                )
            )
        lines += [
            say(
                f"エピソード {episode}: 結果を失いました", f"episode {episode}: its outcome is lost"
            )
            for episode in self.outcomes
        ]
        if self.tokens or self.usd:
            cost = f"{self.tokens} tokens" + (f", ${self.usd:.4f}" if self.usd else "")
            lines.append(
                say(
                    f"再開すると、およそ {cost} がまたかかります",
                    f"resuming costs about {cost} again",
                )
            )
        if self.other:
            lines.append(
                say(
                    "config.json は記録を始めたときのものではありません。今の内容を受け入れました",
                    "config.json is not the one that the log began with; it was taken as it is",
                )
            )
        lines += [say(f"元のファイル: {path}", f"the old file: {path}") for path in self.saved]
        return "\n".join(lines)

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "events": self.events,
            "episodes": self.episodes,
            "lost": {e: {"events": n, "from": step} for e, (n, step) in self.lost.items()},
            "outcomes_lost": list(self.outcomes),
            "tokens": self.tokens,
            "usd": self.usd,
            "saved": [str(path) for path in self.saved],
            "other_configuration": self.other,
        }


def repaired(directory: Path) -> Repaired:
    """Make the log of a run sound, from what of it is. A sound log is left as it is.

    Raises:
        InputError: no run directory, another process works on it, or it cannot be written.
    """
    refuse_links(directory)
    frozen = Frozen.read(directory / "config.json")
    lock = RunLock(directory)
    try:
        found = checked(directory)
        if found.chained and not found.damages and not found.notes:
            return Repaired(found.events, found.episodes)
        if in_database(directory):
            return _repaired_there(directory, frozen.digest)
        path = directory / LOG
        with tempfile.TemporaryDirectory(prefix="naisei-") as scratch:
            salvage = _Salvage.of_file(path, Path(scratch))
        new = directory / "log.sqlite.new"
        try:
            head = salvage.write(new, frozen.digest)
            salvage.told.saved = _put_in_place(path, new, head)
        except OSError as error:
            raise output_error(error, path) from error
        finally:
            for end in ("", "-journal"):
                new.with_name(f"{new.name}{end}").unlink(missing_ok=True)
        return salvage.told
    finally:
        lock.release()


def _repaired_there(directory: Path, origin: str) -> Repaired:
    """As `repaired`, of a log in a database, which stays there under another name."""
    log = open_log(directory, read_only=True, origin=origin, check=False, alone=True)
    with closing(log):
        salvage = _Salvage(log.path, log.head().split(b"\n"))
        salvage.take(lambda table, columns: log.select(f"SELECT {columns} FROM {table}"))
        salvage.sift()
        salvage.told.saved = [log.made_anew(lambda db: salvage.fill(db, origin))]
        return salvage.told


def _put_in_place(path: Path, new: Path, head: bytes) -> list[Path | str]:
    """The new log in the place of the old one, of which a copy is made first."""
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    saved: list[Path | str] = []
    for end in _ENDS:
        old = path.with_name(f"{path.name}{end}")
        if old.exists():
            kept = path.with_name(f"{path.name}.damaged-{at}{end}")
            shutil.copyfile(old, kept)
            saved.append(kept)
    # A WAL that outlived its file would be read into the new one.
    for end in ("-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    listed = Head(path)
    listed.prepare(head)
    new.replace(path)
    listed.put()
    return saved


class _Salvage:
    """The sound rows of a damaged log. told: what was kept and lost."""

    def __init__(self, path: Path, head: Iterable[bytes]) -> None:
        self.path = path
        self.told = Repaired()
        self.texts: dict[int, tuple[bytes, str]] = {}
        self.events: list[Row] = []
        self.rows: dict[str, list[Row]] = {}
        self.head: dict[Key, Entry] = {e.key: e for e in entries(head)[0]}
        self._listed: dict[str, list[Entry]] = defaultdict(list)
        for key, entry in self.head.items():
            if _is_event(key):
                self._listed[str(key[1])].append(entry)
        self._dropped: dict[str, list[Row]] = defaultdict(list)
        self._kept: set[bytes] = set()
        self.found: dict[str, dict[Row, None]] = defaultdict(dict)
        self.chained = True
        self.origin = ""

    @staticmethod
    def of_file(path: Path, scratch: Path) -> _Salvage:
        with closing(Head(path).read()) as lists:
            head = lists.head
            copies = list(_copies(path, scratch))
            with suppress(sqlite3.Error), closing(_opened(copies[0])) as db:
                head = lists.of(db)
            salvage = _Salvage(path, head or ())
        for copy in copies:
            with suppress(sqlite3.Error, ValueError), closing(_opened(copy)) as db:
                salvage.chained = ledger.check_schema(db)
                salvage.take(partial(_rows, db, most=len(salvage.head)))
        salvage.sift()
        return salvage

    def take(self, rows: Callable[[str, str], Iterable[Row]]) -> None:
        """What there is of it. rows: of a table, these columns."""
        found = self.found
        for number, digest, kept in rows("texts", "id, digest, text"):
            text = kept.decode("utf-8", "surrogateescape") if isinstance(kept, bytes) else kept
            if isinstance(text, str) and _digest(text) == digest:
                self.texts[number] = digest, text
        for table, columns in (
            ("events", f"seq, {ledger.EVENT}"),
            ("exchanges", f"seq, {ledger.EXCHANGE}"),
            ("lost", f"seq, {ledger.LOST}"),
            ("episodes", "episode, instance, trial, result, failure, at"),
            ("meta", "key, value"),
        ):
            if self.chained:
                columns += ", after, chain" if table == "episodes" else ", chain"
            for row in rows(table, columns):
                with suppress(TypeError):
                    found[table].setdefault(row)

    def sift(self) -> None:
        """Keep what is sound of what was taken."""
        found = self.found
        if not found:
            raise InputError(
                say("読み取れる行がありません", "no row of it can be read"),
                place=str(self.path),
                remedy=say("控えがあれば、それを使ってください", "use a backup, if there is one"),
            )
        if not self.chained:
            self.events = sorted(found["events"])
            self.rows = {table: list(rows) for table, rows in found.items()}
            self.told.events = len(self.events)
            self.told.episodes = len(found["episodes"])
            return
        self.origin = _origin(list(found["meta"]))
        kept = self._chains(found["events"])
        begin = self._begin
        self.rows = {
            "meta": [r for r in found["meta"] if self._holds(begin(""), r)],
            "lost": [r for r in found["lost"] if self._holds(begin(r[1]), r[1:])],
            "exchanges": [
                r
                for r in found["exchanges"]
                if (r[2] is None and self._holds(begin(r[1]), r[1:], r[-2]))
                or ((r[1], r[2]) in kept and self._holds(kept[r[1], r[2]], r[1:], r[-2]))
            ],
        }
        ended = {}
        for row in found["episodes"]:
            name, after = row[0], row[-2]
            hexed = after.hex() if isinstance(after, bytes) else after
            if (
                (after in self._kept or after == begin(name))
                and not self._lost_of(name)
                and self._holds(begin(name), (*row[:-2], hexed, row[-1]))
            ):
                ended[name] = row[:-2]
        self.rows["episodes"] = list(ended.values())
        self.told.events, self.told.episodes = len(self.events), len(ended)
        self._count(kept, ended, found["episodes"])

    def _begin(self, name: object) -> bytes:
        return chain.genesis(self.origin, str(name))

    def _holds(self, before: bytes, row: Row, packed: object = "") -> bool:
        try:
            texts = [self.texts[n][0] for n in chain.references(str(packed))]
            return bool(chain.row_link(before, texts, row[:-1]) == row[-1])
        except (LookupError, TypeError, ValueError):
            return False

    def _chains(self, rows: dict[Row, None]) -> dict[tuple[str, str], bytes]:
        """The events of each episode up to the first that is missing; digests by step."""
        waiting: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda r: r[0] if isinstance(r[0], int) else 0):
            waiting[str(row[1])].append(row)
        kept: dict[tuple[str, str], bytes] = {}
        for episode, each in waiting.items():
            before = self._begin(episode)
            for row in each:
                try:
                    texts = [self.texts[n][0] for n in chain.references(row[7], row[8])]
                    fits = chain.event_link(before, texts, row[1:-1]) == row[-1]
                except (LookupError, TypeError, ValueError):
                    fits = False
                if fits:
                    before = kept[episode, row[4]] = row[-1]
                    self.events.append(row)
                elif row[-1] != before:  # else the same one, from the other copy
                    self._dropped[episode].append(row)
        self.events.sort()
        self._kept = set(kept.values())
        return kept

    def _lost_of(self, episode: str) -> bool:
        """Whether events of the episode are missing or were dropped."""
        return bool(self._dropped.get(episode)) or any(
            entry.chain not in self._kept for entry in self._listed.get(episode, ())
        )

    def _count(
        self,
        kept: dict[tuple[str, str], bytes],
        ended: dict[str, Row],
        episodes: dict[Row, None],
    ) -> None:
        """What is lost: by the head, and by the rows that were dropped."""
        gone: dict[tuple[str, str], tuple[int, float]] = {}
        for key, entry in self.head.items():
            if _is_event(key) and (place := (str(key[1]), str(key[2]))) not in kept:
                gone[place] = entry.tokens, entry.usd
        for episode, rows in self._dropped.items():
            for row in rows:
                if (episode, str(row[4])) not in kept:
                    gone.setdefault((episode, str(row[4])), _cost(row))
        for (episode, step), (tokens, usd) in gone.items():
            n, first = self.told.lost.get(episode, (0, step))
            self.told.lost[episode] = n + 1, first
            self.told.tokens += tokens
            self.told.usd += usd
        known = {str(row[0]) for row in episodes}
        known |= {str(key[1]) for key in self.head if key[:1] == ("episode",)}
        self.told.outcomes = sorted(known - ended.keys())

    def write(self, path: Path, origin: str) -> bytes:
        """The new log; what its head lists."""
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript(ledger.SCHEMA + ledger.UNIQUE_STEPS)
            db.execute("BEGIN")
            self.fill(db, origin)
            note = (HEAD_KEY, ledger.dump(secrets.token_hex(8)))
            db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", note)
            try:
                head = chain.rechained(db, origin)
            except (ValueError, LookupError) as error:
                raise InputError(
                    say(f"直せない行があります: {error}", f"a row cannot be kept: {error}"),
                    place=str(path.parent),
                ) from error
            db.execute("COMMIT")
        with path.open("rb") as file:
            os.fsync(file.fileno())
        return head

    def fill(self, db: Any, origin: str) -> None:
        """What is sound into the tables of a new log, within a transaction."""
        self.told.other = self.origin not in ("", origin)
        for number, (digest, text) in self.texts.items():
            db.execute(ledger.INSERT_TEXT, (number, digest, text))
        cut = -1 if self.chained else None
        self._insert(db, "events", f"seq, {ledger.EVENT}", [r[:cut] for r in self.events])
        for table, columns, end in (
            ("exchanges", f"seq, {ledger.EXCHANGE}", cut),
            ("lost", f"seq, {ledger.LOST}", cut),
            ("episodes", "episode, instance, trial, result, failure, at", None),
            ("meta", "key, value", cut),
        ):
            self._insert(db, table, columns, [r[:end] for r in self.rows.get(table, [])])
        if self.told.lost or self.told.outcomes:
            db.execute("DELETE FROM meta WHERE key = ?", (SUMMARY_KEY,))
        note: JsonValue = {"format": 1, "origin": origin}
        db.execute("DELETE FROM meta WHERE key = ?", (CHAIN_KEY,))
        db.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (CHAIN_KEY, ledger.dump(note)))

    def _insert(self, db: Any, table: str, columns: str, rows: list[Row]) -> None:
        marks = ",".join("?" * (columns.count(",") + 1))
        db.executemany(f"INSERT OR IGNORE INTO {table}({columns}) VALUES ({marks})", rows)


def _is_event(key: Key) -> bool:
    return key[:1] == ("event",) and len(key) == 3


def _cost(event: Row) -> tuple[int, float]:
    """Tokens and dollars of a row of `events` with its number."""
    read, written, usd = event[16:19]
    return (read or 0) + (written or 0), usd or 0.0


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _origin(notes: list[Row]) -> str:
    """What the chain began with, by a note that is itself sound."""
    for row in notes:
        with suppress(ValueError, TypeError, KeyError):
            if row[0] == CHAIN_KEY:
                origin = str(json.loads(row[1])["origin"])
                if chain.row_link(chain.genesis(origin, ""), (), row[:-1]) == row[-1]:
                    return origin
    return ""


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.text_factory = _lenient
    return db


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _rows(db: sqlite3.Connection, table: str, columns: str, most: int) -> Iterator[Row]:
    """The rows of a table, whatever pages of it cannot be read."""
    at = 0
    number = columns.partition(",")[0] if columns.startswith(("seq", "id")) else ""
    order = f" NOT INDEXED ORDER BY {number}" if number else ""
    try:
        for row in db.execute(f"SELECT {columns} FROM {table}{order}"):
            at = row[0]
            yield row
        return
    except sqlite3.Error:
        if not number:
            return
    for n in range(at + 1, min(at + 2 * most + 1000, _MOST)):
        with suppress(sqlite3.Error):
            yield from db.execute(f"SELECT {columns} FROM {table} WHERE {number} = {n}").fetchall()


def _copies(path: Path, scratch: Path) -> Iterator[Path]:
    """The log as SQLite reads it, and with all of its WAL: SQLite stops at the first frame that is
    damaged, but what comes after it may be sound, as each row says itself."""
    wal = path.with_name(f"{path.name}-wal")
    for name, merge in (("as-is", _beside), ("whole", _merged)):
        copy = scratch / name
        shutil.copyfile(path, copy)
        if wal.exists() and wal.stat().st_size:
            merge(wal, copy)
        yield copy


def _beside(wal: Path, copy: Path) -> None:
    shutil.copyfile(wal, copy.with_name(f"{copy.name}-wal"))


def _merged(wal: Path, copy: Path) -> None:
    """Write the pages of a WAL into the file, up to its last commit, sound or not.
    The format: sqlite.org/fileformat2.html#walformat"""
    data = wal.read_bytes()
    with copy.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = int.from_bytes(data[8:12], "big")
    frame = size + 24
    if size < 512 or size > 65536 or len(data) < 32 + frame:
        return
    salts = data[16:24]
    starts = range(32, len(data) - frame + 1, frame)
    if data[starts[0] + 8 : starts[0] + 16] != salts:
        salts = data[starts[0] + 8 : starts[0] + 16]

    def number(at: int) -> int:
        return int.from_bytes(data[at : at + 4], "big")

    ours = [at for at in starts if data[at + 8 : at + 16] == salts]
    commits = [at for at in ours if number(at + 4)]
    if not commits:
        return
    pages = number(commits[-1] + 4)
    with copy.open("r+b") as out:
        for at in ours:
            if at > commits[-1]:
                break
            if 1 <= number(at) <= pages:
                out.seek((number(at) - 1) * size)
                out.write(data[at + 24 : at + frame])
