"""Every write of a whole command, so that a process can be killed before each: statements and heads
of logs, and of other files the opening, each half of what is written, renaming and removing.
"""

from __future__ import annotations

import builtins
import io
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.attack.statements import Act, See, seen_by

#: How statements begin that write nothing.
_READS = ("SELECT", "PRAGMA table", "PRAGMA integrity", "PRAGMA busy")
_OF_OS = ("pwrite", "rename", "unlink", "remove", "mkdir", "rmdir")


class _File(io.FileIO):
    """One whose writes are seen, in halves."""

    see: See

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        half = len(view) // 2
        for part in (view[:half], view[half:]):
            if part:
                type(self).see("write", None, partial(super().write, part))
        return len(view)


@contextmanager
def writes_seen_by(act: Act) -> Iterator[None]:
    """Within, all writes are seen that Python code makes; not those of libraries in C."""
    opens, of_os = io.open, {name: getattr(os, name) for name in _OF_OS}
    with seen_by(act) as see:

        class File(_File):
            pass

        File.see = staticmethod(see)

        def opened(file: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
            if isinstance(file, int) or not set(mode) & set("wax+") or str(file) == os.devnull:
                return opens(file, mode, *given, **options)
            raw = see("open", None, lambda: File(file, mode.replace("b", "").replace("t", "")))
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            options.pop("buffering", None)
            names = ("buffering", "encoding", "errors", "newline")
            return io.TextIOWrapper(
                buffered, **{**dict(zip(names[1:], given[1:], strict=False)), **options}
            )

        def watched(name: str) -> Callable[..., Any]:
            def call(*given: Any, **options: Any) -> Any:
                return see(name, None, partial(of_os[name], *given, **options))

            return call

        io.open = builtins.open = opened
        for name in _OF_OS:
            setattr(os, name, watched(name))
        try:
            yield
        finally:
            io.open = builtins.open = opens
            for name, function in of_os.items():
                setattr(os, name, function)


def killing(number: int) -> Act:
    """For `writes_seen_by`: kills the process before a write, counted from 0."""
    count = -1

    def act(n: int, sql: str, db: sqlite3.Connection | None, done: bool) -> None:
        nonlocal count
        if not done and not sql.startswith(_READS):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    return act


def counting(counted: list[str]) -> Act:
    """For `writes_seen_by`: the name of each that `killing` counts."""

    def act(n: int, sql: str, db: sqlite3.Connection | None, done: bool) -> None:
        if not done and not sql.startswith(_READS):
            counted.append(" ".join(sql.split()[:3]))

    return act
