"""A run directory: frozen config, log, results and report of one run.

config.json     what changes results, frozen (`naisei.runs.frozen`)
log.sqlite      every effect and its result (`naisei.runs.log`)
results.jsonl   one line an episode, written when the run ends or stops
report.html     written with it
lock            held while a process works on the run
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from naisei import __version__
from naisei.core import InputError
from naisei.files import output_error, write_atomically
from naisei.lang import say
from naisei.runs.frozen import Frozen, default_path
from naisei.runs.lock import RunLock
from naisei.runs.log import RunLog
from naisei.runs.task import Configured, EpisodeRow

__all__ = ["RunDirectory"]


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
    def of(task: Configured, path: Path | None = None) -> RunDirectory:
        """The run directory of a task: made if it is not there, else continued.

        Args:
            path: where; by default `runs/<system>-<digest of config and data>`, so that
                the same command continues the same run.

        Raises:
            InputError: the directory holds something else, another configuration or other
                data, or another process works on it.
        """
        path = default_path(task) if path is None else path
        frozen = Frozen.of(task)
        holders = [folder for folder in path.parents if not folder.exists()]
        fresh = _make(path, frozen)
        lock = RunLock(path)
        try:
            found = Frozen.read(path / "config.json")
            found.refuse(frozen, path)
            run = RunDirectory(path, found, RunLog(path / "log.sqlite"), lock, fresh)
            run._holders = holders
            return run
        except BaseException:
            lock.release()
            raise

    @staticmethod
    def look(path: Path) -> RunDirectory:
        """A run to read, whether or not a process is working on it.

        Raises:
            InputError: no run directory.
        """
        frozen = Frozen.read(path / "config.json")
        log = RunLog(path / "log.sqlite", read_only=True)
        return RunDirectory(path, frozen, log, None, fresh=False)

    @property
    def notes(self) -> list[str]:
        """What a reader should know about how the run came about."""
        if self.frozen.naisei == __version__:
            return []
        began = self.frozen.naisei
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
        unused = error is not None and self.fresh and self.log.counts() == (0, 0, 0)
        self.close()
        if unused:
            shutil.rmtree(self.path)
            _remove_empty(self._holders)


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, until one holds something."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # another run lives there by now


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _make(path: Path, frozen: Frozen) -> bool:
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
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise output_error(error, path) from error
    try:
        made.chmod(0o777 & ~_umask())
        text = json.dumps(frozen.model_dump(mode="json"), ensure_ascii=False, indent=2)
        (made / "config.json").write_text(text + "\n", encoding="utf-8")
        RunLog(made / "log.sqlite").close()
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
