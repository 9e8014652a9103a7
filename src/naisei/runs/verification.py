"""A log held against its digests and its head: whether it is sound, or what is wrong with it.

A sound log is read through once, in memory that does not grow with it. Where anything is not as
it should be, all of it is looked at again, row by row, to say what.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path

from pydantic import JsonValue

from naisei.core import InputError
from naisei.lang import say
from naisei.runs import ledger
from naisei.runs.chain import event_link, genesis, references, row_link
from naisei.runs.head import Key, Listed, entries
from naisei.runs.reading import read_through


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong at one place. episode, step: empty where it is not of one.

    before, after: sound events of the episode before and after it. tokens, usd: what the lost
    had cost.
    """

    what: str
    episode: str = ""
    step: str = ""
    before: int = 0
    after: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __str__(self) -> str:
        if not self.episode:
            return self.what
        place = say(f"エピソード {self.episode}", f"episode {self.episode}") + (
            say(f" ステップ {self.step}", f" step {self.step}") if self.step else ""
        )
        around = say(
            f" (その前に無事なもの {self.before} 件、後に {self.after} 件)",
            f" ({self.before} sound before it, {self.after} after)",
        )
        return f"{place}: {self.what}{around if self.step else ''}"


@dataclass(slots=True)
class Findings:
    """What a check of a log found.

    chained: whether it has digests at all. events, episodes: sound ones. last: the digest of each
    episode's last event. sound: keys of the rows that hold.
    """

    chained: bool = True
    events: int = 0
    episodes: int = 0
    damages: list[Damage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    last: dict[str, bytes] = field(default_factory=dict)
    sound: set[Key] = field(default_factory=set)

    def text(self) -> str:
        """In words, a line a damage."""
        lines = [str(damage) for damage in self.damages]
        if not lines:
            lines = [
                say(
                    f"無事です (記録 {self.events} 件、終わったエピソード {self.episodes} 件)",
                    f"sound: {self.events} events, {self.episodes} ended episodes",
                )
            ]
        return "\n".join([*(lines if self.chained or self.damages else []), *self.notes])

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "sound": not self.damages,
            "chained": self.chained,
            "events": self.events,
            "episodes": self.episodes,
            "damages": [asdict(damage) for damage in self.damages],
            "notes": list(self.notes),
        }

    def refuse(self, place: Path) -> None:
        """Raises `InputError` that names the damage, if there is any."""
        if not self.damages:
            return
        shown = "".join(f"\n  {damage}" for damage in self.damages[:5])
        if (left := len(self.damages) - 5) > 0:
            shown += say(f"\n  … ほか {left} 件", f"\n  … and {left} more")
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


_STRUCTURE = ("データベースの構造", "structure of the database")
_CHANGED = ("記録されたときと内容が違います", "is not as it was recorded")
_GONE = ("なくなっています", "is gone")
_STALE = ("古い内容に戻っています", "has an older content")


def verified(
    db: sqlite3.Connection,
    origin: str,
    head: Listed | None,
    *,
    chained: bool,
    structure: bool = True,
) -> Findings:
    """Everything that the log holds, held against its digests and its head.

    db: within a transaction, begun after the head was read. It may hold rows beyond the head: of
    a process that was killed, or writes on. chained: whether it has digests; of an older log only
    the structure and the kinds of its values can be checked. structure: look at those of a file,
    too.
    """
    found = Findings(chained=chained)
    check = _Check(db, origin, found)
    read = False
    try:
        told = ["ok"]
        if structure:
            told = [str(row[0]) for row in db.execute("PRAGMA integrity_check(5)")]
        if told != ["ok"]:
            found.damages.append(Damage(f"{say(*_STRUCTURE)}: {'; '.join(told)}"))
        elif chained and head is not None:
            read = read_through(db, origin, head, found)
        if chained and not read:
            check.all()
        if structure and not found.damages:
            ledger.check_rows(db)
    except sqlite3.DatabaseError as error:
        found.damages.append(Damage(f"{say(*_STRUCTURE)}: {error}"))
    except ValueError as error:
        found.damages.append(
            Damage(say(f"{error} の行がおかしい", f"rows of {error} are not valid"))
        )
    if read:
        return found
    if not chained:
        found.notes.append(
            say(
                "古いバージョンの記録でダイジェストがなく、壊れていても分かりません",
                "the log is not chained (of an earlier version): damage would not show",
            )
        )
    elif head is not None:
        check.against(head)
    elif check.chains:
        found.notes.append(
            say(
                "log.sqlite.head がありません。残っている分は無事ですが、"
                "末尾が失われていないかは分かりません",
                "log.sqlite.head is missing: what is there is sound, "
                "but whether there was more cannot be told",
            )
        )
    check.count()
    return found


class _Check:
    def __init__(self, db: sqlite3.Connection, origin: str, found: Findings) -> None:
        self.db, self.origin, self.found = db, origin, found
        self.texts: dict[int, bytes] = {}
        #: The digest of every row, as it is stored.
        self.chains: dict[Key, bytes] = {}
        #: Steps of each episode in order, with what is wrong there.
        self.steps: dict[str, list[tuple[str, str]]] = {}

    def all(self) -> None:
        digest = blake2b
        for number, known, text in self.db.execute("SELECT id, digest, text FROM texts"):
            data = text.encode() if isinstance(text, str) else text
            if isinstance(data, bytes) and digest(data, digest_size=16).digest() == known:
                self.texts[number] = known
        self._events()
        of_event = {key[1:]: chain for key, chain in self.chains.items()}
        for seq, chain, *row in self.db.execute(
            f"SELECT seq, chain, {ledger.EXCHANGE} FROM exchanges ORDER BY seq"
        ):
            before = of_event.get((row[0], row[1]))
            self._row(("exchange", seq), row[0], row, chain, before, row[-1])
        for seq, chain, *row in self.db.execute(
            f"SELECT seq, chain, {ledger.LOST} FROM lost ORDER BY seq"
        ):
            self._row(("lost", seq), row[0], row, chain)
        of_episode: dict[str, set[bytes]] = {}
        for key, chain in self.chains.items():
            if key[0] == "event":
                of_episode.setdefault(str(key[1]), set()).add(chain)
        for chain, *row in self.db.execute(f"SELECT chain, {ledger.EPISODE} FROM episodes"):
            name, after = row[0], row[-1]
            self._row(("episode", name), name, [*row[:-1], _hex(after)], chain)
            if after not in (of_episode.get(name, set()) | {genesis(self.origin, str(name))}):
                self._wrong(Damage(say(*_CHANGED), str(name)))
        for chain, name, value in self.db.execute("SELECT chain, key, value FROM meta"):
            self._row(("note", name), "", [name, value], chain)

    def _events(self) -> None:
        last = self.found.last
        for chain, *row in self.db.execute(
            f"SELECT chain, {ledger.EVENT} FROM events ORDER BY seq"
        ):
            episode, path = row[0], row[3]
            before = last.get(episode) or genesis(self.origin, str(episode))
            wrong = ""
            try:
                texts = [self.texts[n] for n in references(row[6], row[7])]
                if event_link(before, texts, row) != chain:
                    wrong = say(*_CHANGED)
            except KeyError:
                wrong = say("本文が失われています", "its text is gone")
            except (TypeError, ValueError):
                wrong = say(*_CHANGED)
            key = ("event", str(episode), str(path))
            self.steps.setdefault(str(episode), []).append((str(path), wrong))
            if isinstance(chain, bytes):
                self.chains[key] = last[episode] = chain
            if not wrong:
                self.found.sound.add(key)

    def _row(
        self,
        key: Key,
        episode: object,
        row: Sequence[object],
        chain: object,
        before: bytes | None = None,
        packed: object = "",
    ) -> None:
        """Any other row than an event."""
        if before is None:
            before = genesis(self.origin, str(episode))
        try:
            texts = [self.texts[n] for n in references(str(packed))]
            sound = row_link(before, texts, row) == chain
        except (KeyError, TypeError, ValueError):
            sound = False
        if isinstance(chain, bytes):
            self.chains[key] = chain
        if sound:
            self.found.sound.add(key)
        else:
            self._wrong(Damage(f"{_named(key)} {say(*_CHANGED)}", str(episode)))

    def against(self, head: Listed) -> None:
        """Rows that were committed and are not there."""
        listed, unreadable = entries(head)
        newest = {entry.key: entry for entry in listed}
        older = {(entry.key, entry.chain) for entry in listed}
        present = set(self.chains.values())
        claimed = sum(key in newest for key in self.chains)
        if unreadable > len(self.chains) - claimed:
            self._wrong(
                Damage(
                    say(
                        f"log.sqlite.head の {unreadable} 行が読めません",
                        f"{unreadable} lines of log.sqlite.head cannot be read",
                    )
                )
            )
        for key, entry in newest.items():
            chain = self.chains.get(key)
            if chain == entry.chain or (chain is None and entry.chain in present):
                continue
            if chain is not None and (key not in self.found.sound or (key, chain) not in older):
                continue  # told already, or newer than the head
            what = f"{_named(key)} {say(*(_GONE if chain is None else _STALE))}"
            if key[0] == "event" and len(key) == 3:
                self.steps.setdefault(str(key[1]), []).append((str(key[2]), what))
                self._wrong(Damage(what, str(key[1]), str(key[2]), 0, 0, entry.tokens, entry.usd))
            else:
                episode = str(key[1]) if key[0] == "episode" else ""
                self._wrong(Damage(what, episode, "", 0, 0, entry.tokens, entry.usd))

    def count(self) -> None:
        """How much is sound, and around each damage."""
        gone = {(d.episode, d.step): d for d in self.found.damages if d.step}
        self.found.damages = [d for d in self.found.damages if not d.step]
        for episode, steps in self.steps.items():
            good = sum(not wrong for _, wrong in steps)
            self.found.events += good
            before = 0
            for path, wrong in steps:
                if not wrong:
                    before += 1
                    continue
                known = gone.get((episode, path), Damage(wrong))
                self.found.damages.append(
                    Damage(
                        known.what,
                        episode,
                        path or "0",
                        before,
                        good - before,
                        known.tokens,
                        known.usd,
                    )
                )
        self.found.episodes = sum(key[0] == "episode" for key in self.found.sound)

    def _wrong(self, damage: Damage) -> None:
        if damage not in self.found.damages:
            self.found.damages.append(damage)


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


_TABLES = {
    "event": ("記録", "the event"),
    "exchange": ("モデルとのやりとり", "an exchange with a model"),
    "lost": ("失敗した呼び出しの費用", "the cost of a failed call"),
    "episode": ("エピソードの結果", "the outcome"),
    "note": ("実行についての控え", "a note of the run"),
}


def _named(key: Key) -> str:
    known = _TABLES.get(str(key[0]) if key else "", ("行", "a row"))
    rest = str(key[1]) if key[:1] == ("note",) and len(key) > 1 else ""
    return f"{say(*known)} {rest}".strip()
