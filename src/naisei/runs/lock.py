"""Locks: one process per run directory, one writer per episode of a log; and retries while another
program holds a log."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from naisei.core import (
    EpisodeBusy,
    Event,
    EventLog,
    Flow,
    InputError,
    Limits,
    LogBusy,
    Where,
    World,
    arun,
)
from naisei.core.events import claimed
from naisei.core.events import writing as writing_in
from naisei.files import make_folder, plain_file
from naisei.lang import say

#: Maximum displayed length of a holder's name.
_NAME = 200


class RunLock:
    """Held from construction to `release`; the system releases it if the process is killed.

    The folder itself is locked, so that there is no lock file to delete or to replace by a link.

    Raises:
        InputError: another process holds it; names its pid and host.
    """

    def __init__(self, directory: Path) -> None:
        self._holder = directory / "lock.holder"
        plain_file(self._holder)
        until = time.monotonic() + 0.3  # `locked` may hold it for a moment
        while (held := _taken(directory, alone=True)) is None:
            if time.monotonic() > until:
                raise in_use(directory)
            time.sleep(0.02)
        self._release = held
        try:
            text = f"pid {os.getpid()} on {socket.gethostname()}"
            self._holder.write_text(text, encoding="utf-8")
        except BaseException:
            held()
            raise

    def release(self) -> None:
        self._holder.unlink(missing_ok=True)
        self._release()


def server_lock(folder: Path) -> RunLock:
    """Lock the folder of a server exclusively; create it if necessary.

    Raises:
        InputError: the folder cannot be created, or another server uses it.
    """
    make_folder(folder)
    if locked(folder):
        raise InputError(
            say(
                f"別のサーバーがこのフォルダーを使っています: {holder(folder)}",
                f"another server uses this folder: {holder(folder)}",
            ),
            place=str(folder),
            remedy=say(
                "止めるか、別の --state を指定してください", "stop it, or give another --state"
            ),
        )
    return RunLock(folder)


class RunInUse(InputError):
    """Another process works on the run."""


def in_use(directory: Path) -> RunInUse:
    """Return the error for a run that another process works on."""
    who = holder(directory)
    return RunInUse(
        say(
            f"別のプロセスがこの実行を進めています: {who}",
            f"another process is working on this run: {who}",
        ),
        place=str(directory),
        remedy=say(
            "終わるのを待つか、止めるか、別の --run-dir を指定してください",
            "wait for it, stop it, or give another --run-dir",
        ),
    )


def _taken(directory: Path, *, alone: bool) -> Callable[[], None] | None:
    """Take the lock and return its release; `None` if it is held. alone: exclusive, else shared
    with readers."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        return None
    except BaseException:
        os.close(folder)
        raise
    return lambda: os.close(folder)


def holder(directory: Path) -> str:
    """Return the recorded holder of the lock: `pid 123 on host`."""
    path = directory / "lock.holder"
    for _ in range(10):
        try:
            plain_file(path)
            with path.open(encoding="utf-8", errors="replace") as file:
                if text := file.read(_NAME):
                    return text
        except (FileNotFoundError, InputError):
            pass
        time.sleep(0.02)  # the holder has just acquired the lock and is about to write its name
    return "unknown"


def locked(directory: Path) -> bool:
    """Return whether a process is working on the run now. Creates no file."""
    try:
        release = _taken(directory, alone=False)
    except OSError:  # missing or unreadable folder: not in use
        return False
    if release is not None:
        release()
    return release is None


def episode_busy(log: Path, episode: str) -> EpisodeBusy:
    """Return the error for an episode that another call writes."""
    return EpisodeBusy(
        say(
            f"エピソード {episode} は、いま別の呼び出しが進めています",
            f"another call is running the episode {episode}",
        ),
        place=str(log),
        remedy=say(
            "終わってから呼び直すと、その結果が返ります。二度実行されることはありません",
            "call again when it has ended: you get its result, and nothing is done twice",
        ),
    )


@contextmanager
def writing(log: Path, episode: str) -> Iterator[None]:
    """Hold the exclusive write lock for `episode` of this log file.

    Across processes, one byte of the file `<log>.writers` is locked for the episode; the system
    releases it when the process is killed.

    Raises:
        EpisodeBusy: another writer holds the lock.
    """
    place, busy = log.resolve(), episode_busy(log, episode)
    # With the process id, since a forked process inherits its parent's locks.
    with claimed((os.getpid(), place, episode), busy), _locked(place, episode, busy):
        yield


@dataclass
class _Shared:
    """The open `.writers` file of a log. users: number of held episodes."""

    handle: int
    users: int = 0


# One handle per process: closing any handle of a file drops all locks that the process has
# on it.
_files: dict[tuple[int, Path], _Shared] = {}
_opening = threading.Lock()


@contextmanager
def _locked(log: Path, episode: str, busy: EpisodeBusy) -> Iterator[None]:
    key = (os.getpid(), log)
    digest = hashlib.blake2b(episode.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    byte = int.from_bytes(digest)
    with _opening:
        if (shared := _files.get(key)) is None:
            path = log.with_name(f"{log.name}.writers")
            plain_file(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            shared = _files[key] = _Shared(os.open(path, flags, 0o666))
        shared.users += 1
    try:
        try:
            fcntl.lockf(shared.handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            raise busy from None
        try:
            yield
        finally:
            fcntl.lockf(shared.handle, fcntl.LOCK_UN, 1, byte)
    finally:
        with _opening:
            shared.users -= 1
            if not shared.users:
                del _files[key]
                os.close(shared.handle)


# Waiting for a locked log without blocking the event loop.

T = TypeVar("T")
#: Seconds to wait for a locked log, and between two attempts.
PATIENCE, AGAIN = 10.0, 0.05


async def retry_while_locked(write: Callable[[], T]) -> T:
    """Retry `write` until the log is unlocked, without blocking the event loop.

    Raises:
        LogBusy: the log stays locked.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return write()
        except LogBusy:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(AGAIN)


async def arun_logged(
    flow: Flow[T],
    world: World,
    *,
    log: EventLog,
    where: Where = Where(),
    limits: Limits = Limits(),
    apart: bool = False,
) -> T:
    """Like `naisei.core.arun`, for a log that another program may lock for a while."""
    with ExitStack() as held:
        episode = where.episode
        await retry_while_locked(lambda: held.enter_context(writing_in(log, episode)))
        events = tuple(await retry_while_locked(lambda: log.read(episode)))
        mine = _WrittenLog(log, events)
        return await arun(flow, world, log=mine, where=where, limits=limits, apart=apart)


class _WrittenLog:
    """The log of an episode that the caller has read and is writing. Appending waits while another
    program holds the log."""

    def __init__(self, log: EventLog, events: Iterable[Event]) -> None:
        self._log, self._events = log, events

    def read(self, episode: str) -> Iterable[Event]:
        return self._events

    def append(self, event: Event) -> Awaitable[None] | None:
        try:
            return self._log.append(event)
        except LogBusy:
            return self._appended(event)

    async def _appended(self, event: Event) -> None:
        storing = await retry_while_locked(lambda: self._log.append(event))
        if storing is not None:
            await storing
