"""A run directory: frozen config, log, results and report of one run.

config.json     everything that changes results, frozen (`Frozen`)
log.sqlite      every effect and its result (`naisei.runs.log`)
store.json      instead of the log file: the database that holds the log
results.jsonl   one line per episode, written when the run ends or stops
report.html     written together with the results
lock.holder     the process working on the run; the folder itself is locked
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING

from naisei import __version__
from naisei.core import InputError, LogBusy, Where
from naisei.files import output_error, plain_file, write_atomically
from naisei.lang import say
from naisei.runs.frozen import Accepted, Frozen, named_path, tell_changes
from naisei.runs.lock import RunLock
from naisei.runs.log import RunLog
from naisei.runs.task import Configured, EpisodeRow

if TYPE_CHECKING:
    from naisei.postgres import Stored

#: Key of the log note that lists accepted changes.
_ACCEPTED = "accepted"


class RunDirectory:
    """A run on disk. Get one by `of` (to work on it) or `look` (to read it).

    A context manager: on leaving, the log is closed and the lock released; after an error, a
    directory that this call created is removed if nothing was recorded, together with its created
    parents.
    """

    def __init__(
        self, path: Path, frozen: Frozen, log: RunLog, lock: RunLock | None, fresh: bool
    ) -> None:
        self.path = path
        self.frozen = frozen
        self.log = log
        self.fresh = fresh
        self._lock = lock
        self._holders: list[Path] = []

    @staticmethod
    def of(
        task: Configured,
        path: Path | None = None,
        *,
        store: str | None = None,
        accept: bool = False,
    ) -> RunDirectory:
        """Create the run directory of a task, or continue an existing one.

        Args:
            path: by default `default_path`, so that the same command continues the same run.
                If a change starts a new run, a line on stderr says so.
            store: address of the database for the log of a new run; by default the log is a file.
            accept: continue although data, code, prompts or weights have changed. The log also
                records their new values; unfinished episodes start again.

        Raises:
            InputError: the directory holds something else or another configuration, a change
                was not accepted, or another process works on it.
        """
        frozen = Frozen.of(task)
        place = path or named_path(task.system, [frozen])
        holders = [folder for folder in place.parents if not folder.exists()]
        fresh = _make(place, frozen, store)
        if fresh and path is None:
            tell_changes(place, frozen)
        path = place
        lock = RunLock(path)
        try:
            refuse_links(path)
            found = Frozen.read(path / "config.json")
            found.refuse(frozen, path)
            log = open_log(path, origin=found.digest)
            run = RunDirectory(path, found, log, lock, fresh)
            run._holders = holders
            try:
                run._settle(frozen, accept)
            except BaseException:
                log.close()
                raise
            return run
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def look(path: Path, *, check: bool = True) -> RunDirectory:
        """Open a run for reading, even while a process works on it. check: verify the whole log's
        digests first; otherwise only those of rows that are read.

        Raises:
            InputError: not a run directory, or a damaged one.
        """
        refuse_links(path)
        frozen = Frozen.read(path / "config.json")
        log = open_log(path, read_only=True, origin=frozen.digest, check=check)
        return RunDirectory(path, frozen, log, None, fresh=False)

    @property
    def accepted(self) -> list[Accepted]:
        """The accepted changes, oldest first."""
        kept = self.log.get(_ACCEPTED)
        return [Accepted.model_validate(each) for each in kept] if isinstance(kept, list) else []

    @property
    def current(self) -> Frozen:
        """The frozen configuration with the last accepted data and identity."""
        if not (accepted := self.accepted):
            return self.frozen
        last = accepted[-1]
        return self.frozen.model_copy(
            update={"data_hash": last.data_hash, "identity": last.identity}
        )

    def _settle(self, now: Frozen, accept: bool) -> None:
        """Refuse changes, or record them if accepted."""
        if not (changes := self.current.changes(now)):
            return
        if not accept:
            self.current.refuse_changes(now, self.path)
        rows = self.log.rows()
        change = Accepted(
            at=now.created,
            scored=sum(row.scored for row in rows.values()),
            changes=changes,
            data_hash=now.data_hash,
            identity=now.identity,
        )
        accepted = [*self.accepted, change]
        self.log.put(_ACCEPTED, [each.model_dump(mode="json") for each in accepted])
        _begin_anew(self.log)

    @property
    def notes(self) -> list[str]:
        """Notes on how the run was made."""
        began = self.frozen.naisei
        if began == __version__:
            return []
        return [
            say(
                f"naisei {began} で始めた実行です (現在のバージョンは {__version__})。",
                f"The run was started with naisei {began}; this is {__version__}.",
            )
        ]

    def write_results(self, rows: list[EpisodeRow]) -> None:
        """Write `results.jsonl` atomically, in the given order."""
        lines = [
            json.dumps(
                {
                    "instance": row.where.instance,
                    "trial": row.where.trial,
                    "result": row.result,
                    "failure": row.failure or None,
                },
                ensure_ascii=False,
            )
            for row in rows
        ]
        write_atomically(self.path / "results.jsonl", "".join(line + "\n" for line in lines))

    def close(self) -> None:
        self.log.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            unused = error is not None and self.fresh and self.log.counts() == (0, 0, 0)
        except LogBusy:  # unknown, so keep it
            unused = False
        self.close()
        if unused:
            remove(self.path)
            _remove_empty(self._holders)


def _begin_anew(log: RunLog) -> None:
    """Erase unfinished episodes, since a result has one identity. Their costs still count. A
    fork's episodes start with the parent's events and are not erased."""
    if log.get("fork") is not None:
        return
    rows = log.rows()
    begun = {name: log.read(name) for name in log.known_episodes()}
    scored = {name for name, row in rows.items() if row.scored}
    open_ = {e[0].where.instance for n, e in begun.items() if e and n not in scored}
    if not open_:
        return
    # Whole instances are erased, including their other trials.
    spent = {
        events[0].where: rows[name].usage
        if name in rows
        else tuple(e.usage for e in events if e.usage)
        for name, events in begun.items()
        if events and events[0].where.instance in open_
    }
    log.erase(instances=sorted(open_))
    for where, usages in spent.items():
        log.finish(EpisodeRow(Where(where.instance, where.trial)), usages)


def refuse_links(path: Path) -> None:
    """Raises `InputError` if a run directory holds links, pipes or devices: writes would go
    elsewhere, and reads might block."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    plain_file(Path(entry.path))
    except OSError:
        return  # opening it raises the error


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, up to the first one that is not empty."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # another run uses it now


def _make(path: Path, frozen: Frozen, store: str | None) -> bool:
    """Create the directory atomically; returns whether it is new."""
    if path.exists() and not path.is_dir():
        raise InputError(
            say("実行ディレクトリではなく、ファイルです", "is a file, not a run directory"),
            place=str(path),
        )
    if (path / "config.json").exists():
        return False
    if path.is_dir() and any(path.iterdir()):
        raise InputError(
            say("ファイルがありますが、実行ではありません", "holds files, but no run"),
            place=str(path),
            remedy=say("別の --run-dir を指定してください", "give another --run-dir"),
        )
    try:
        made = path.with_name(f".{path.name}.{token_hex(4)}")
        made.mkdir(parents=True)
    except OSError as error:
        raise output_error(error, path) from error
    try:
        text = json.dumps(frozen.model_dump(mode="json"), ensure_ascii=False, indent=2)
        (made / "config.json").write_text(text + "\n", encoding="utf-8")
        begin_log(made, store, name=path.name, origin=frozen.digest)
        made.rename(path)
        return True
    except OSError:
        # Another process was faster: use its directory.
        if not (path / "config.json").exists():
            raise
        return False
    finally:
        if made.exists():
            shutil.rmtree(made)


# Location of the log: a file, or a database that `store.json` names. A later `--store` does not
# move it. The address is stored without its password, which comes from `NAISEI_STORE` or from
# libpq's own sources.

#: File name of the log.
LOG = "log.sqlite"
#: File that names the database, if the log is in one.
_STORE_FILE = "store.json"


def begin_log(directory: Path, store: str | None, *, name: str, origin: str) -> None:
    """Create the log of a new directory. store: address of a database; `None`: a file.

    Raises:
        InputError: the store cannot be used.
    """
    if store is None:
        RunLog(directory / LOG, origin=origin).close()
        return
    from naisei.postgres import Stored, database, without_password

    database(store)
    Stored(store=without_password(store), name=f"{name}-{token_hex(6)}").write(directory)


def in_database(directory: Path) -> bool:
    """Return whether the log of a run directory is in a database."""
    return _stored(directory) is not None


def _stored(directory: Path) -> Stored | None:
    if not os.path.lexists(directory / _STORE_FILE):
        return None
    from naisei.postgres import stored_in

    return stored_in(directory)


def open_log(
    directory: Path,
    *,
    read_only: bool = False,
    origin: str | None = None,
    check: bool = True,
) -> RunLog:
    """Open the log of a run directory; see `RunLog`. A log in a database has one writer."""
    if (stored := _stored(directory)) is None:
        return RunLog(directory / LOG, read_only=read_only, origin=origin, check=check)
    from naisei.postgres import address_of
    from naisei.runs.postgres import postgres_log

    return postgres_log(
        address_of(stored.store),
        stored.name,
        place=directory / _STORE_FILE,
        read_only=read_only,
        origin=origin,
        check=check,
        alone=not read_only,
    )


def log_state(directory: Path) -> tuple[object, ...]:
    """Return a value that changes whenever the log changes."""
    if in_database(directory):
        with closing(open_log(directory, read_only=True, check=False)) as log:
            newest = ("max(seq)", "events"), ("max(rowid)", "episodes"), ("max(seq)", "lost")
            return tuple(log.select(f"SELECT {what} FROM {table}")[0] for what, table in newest)
    names = (LOG, f"{LOG}-wal")
    stats = [(directory / name).stat() if (directory / name).exists() else None for name in names]
    return tuple(s and (s.st_ino, s.st_size, s.st_mtime_ns) for s in stats)


def remove(directory: Path) -> None:
    """Remove a run directory and its log. Raises `OSError`, and `InputError` if its store cannot
    be reached; nothing is removed then."""
    if (stored := _stored(directory)) is not None:
        from naisei.postgres import address_of, database

        with database(address_of(stored.store)).connection() as db:
            if db.execute("SELECT to_regclass('naisei.logs')").fetchone() != (None,):
                db.execute("DELETE FROM naisei.logs WHERE name = %s", (stored.name,))
    shutil.rmtree(directory)
