"""One writer to an episode of a log, over all threads, objects and processes."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from naisei.core import EpisodeBusy
from naisei.core.events import claimed
from naisei.lang import say

__all__ = ["writing"]


@contextmanager
def writing(log: Path, episode: str) -> Iterator[None]:
    """Within, nobody else writes `episode` of the log in this file.

    Between processes, a byte of the file `<log>.writers` stands for the episode and is locked:
    the system lets go of it when the process is killed. (On Windows, this process only.)

    Raises:
        EpisodeBusy: somebody writes it.
    """
    place = log.resolve()
    busy = EpisodeBusy(
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
    # With the process, since a forked one inherits what its parent holds.
    with claimed((os.getpid(), place, episode), busy), _locked(place, episode, busy):
        yield


@dataclass
class _Shared:
    """The open file of a log's writers. users: how many episodes are held by it."""

    handle: int
    users: int = 0


# One for all of a process: closing any handle of a file drops all locks that the process has
# on it.
_files: dict[tuple[int, Path], _Shared] = {}
_opening = threading.Lock()


@contextmanager
def _locked(log: Path, episode: str, busy: EpisodeBusy) -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    import fcntl

    key = (os.getpid(), log)
    digest = hashlib.blake2b(episode.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    byte = int.from_bytes(digest)
    with _opening:
        if (shared := _files.get(key)) is None:
            path = log.with_name(f"{log.name}.writers")
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
