"""A run directory: frozen config, log, results and report of one run.

config.json     what changes results, frozen (`Frozen`)
log.sqlite      every effect and its result (`naisei.runs.log`)
log.sqlite.digest of the closed log, to tell when it is damaged (`naisei.runs.integrity`)
store.json      instead of both: the database that holds the log (`naisei.runs.stores`)
results.jsonl   one line an episode, written when the run ends or stops
report.html     written with it
lock.holder     who works on the run now; the folder itself is locked
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from naisei import __version__
from naisei.core import InputError, LogBusy, Where
from naisei.files import output_error, plain_file, write_atomically
from naisei.lang import say
from naisei.runs.frozen import Accepted, Frozen, named_path, tell_changes
from naisei.runs.lock import RunLock
from naisei.runs.log import RunLog
from naisei.runs.stores import begin_log, open_log, remove
from naisei.runs.task import Configured, EpisodeRow

#: Note of a log: the changes under which it was gone on with.
_ACCEPTED = "accepted"


class RunDirectory:
    """A run on disk. Get one by `of` (to work on it) or `look` (to read it).

    A context manager: on leaving, the log is closed and the lock released; a directory
    that this call made, and in which nothing was recorded before an error, is removed, and
    so are the folders that were made to hold it.
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
        """The run directory of a task: made if it is not there, else continued.

        Args:
            path: where; by default `default_path`, so that the same command continues the same
                run. Where that begins anew after a change, a line on stderr says so.
            store: address of the database in which the log of a new run is kept; by default it
                is a file (`naisei.runs.stores`).
            accept: go on although data, code, prompts or weights have changed. The log keeps
                what they are now, too; episodes that were under way begin anew.

        Raises:
            InputError: the directory holds something else or another configuration, something
                has changed and that is not accepted, or another process works on it.
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
        """A run to read, whether or not a process is working on it. Nothing is written there.

        check: hold its whole log against the digests first; without, only what is read.

        Raises:
            InputError: no run directory, or a damaged one.
        """
        refuse_links(path)
        frozen = Frozen.read(path / "config.json")
        log = open_log(path, read_only=True, origin=frozen.digest, check=check)
        return RunDirectory(path, frozen, log, None, fresh=False)

    @property
    def accepted(self) -> list[Accepted]:
        """The changes under which it was gone on with, oldest first."""
        kept = self.log.get(_ACCEPTED)
        return [Accepted.model_validate(each) for each in kept] if isinstance(kept, list) else []

    @property
    def current(self) -> Frozen:
        """As frozen, with the data and the identity that were accepted last."""
        if not (accepted := self.accepted):
            return self.frozen
        last = accepted[-1]
        return self.frozen.model_copy(
            update={"data_hash": last.data_hash, "identity": last.identity}
        )

    def _settle(self, now: Frozen, accept: bool) -> None:
        """Refuse what has changed since, or record it."""
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
        """What a reader should know about how the run came about."""
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
        """`results.jsonl`, in the order given, all at once."""
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
        except LogBusy:  # then it is not known, and it stays
            unused = False
        self.close()
        if unused:
            remove(self.path)
            _remove_empty(self._holders)


def _begin_anew(log: RunLog) -> None:
    """Take away the episodes that are under way: a result is of one identity. What they cost stays
    counted. Those of a fork begin with what is its parent's, and stay."""
    if log.get("fork") is not None:
        return
    rows = log.rows()
    begun = {name: log.read(name) for name in log.known_episodes()}
    scored = {name for name, row in rows.items() if row.scored}
    open_ = {e[0].where.instance for n, e in begun.items() if e and n not in scored}
    if not open_:
        return
    # Whole instances are erased: of their other trials, too, all is paid for in vain.
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
    """Raises `InputError` if a run directory holds links, pipes or devices: what is written into
    the run would go elsewhere, and what is read might never come."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    plain_file(Path(entry.path))
    except OSError:
        return  # whoever opens it says what is wrong


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, until one holds something."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # another run lives there by now


def _make(path: Path, frozen: Frozen, store: str | None) -> bool:
    """Make the directory complete or not at all; whether it is new."""
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
        # Another process was faster: its directory is the run.
        if not (path / "config.json").exists():
            raise
        return False
    finally:
        if made.exists():
            shutil.rmtree(made)
