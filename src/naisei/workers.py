"""Several processes of one server behind one address: they share its listening socket.

A process that dies is replaced; what it was working on is in the database, and goes on wherever it
is asked for next. SIGTERM and Ctrl-C end all of them, each after what it has in flight.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from naisei.core import InputError
from naisei.lang import language, say, speaking

#: What a process serves: its own arguments, the socket, and whom to tell that it listens.
Work = Callable[..., None]


def serve_by(
    work: Work,
    arguments: Sequence[tuple[Any, ...]],
    listening: socket.socket,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve by several processes until SIGTERM or Ctrl-C.

    Args:
        work: called in each process as `work(*own, listening, told)`; of a module, since
            processes are begun anew. It serves until SIGTERM, and tells its address by `told`.
        arguments: what is each process's own, and its replacement's.
        ready: is told the address once all take connections.

    Raises:
        SystemExit: a process could not begin, with its exit code; it has said why.
    """
    context = multiprocessing.get_context("spawn")
    stopping: list[int] = []
    running: dict[BaseProcess, Connection] = {}
    slots: dict[BaseProcess, int] = {}

    def begin(slot: int) -> None:
        here, there = context.Pipe()
        process = context.Process(
            target=_serve, args=(work, arguments[slot], listening, there, language())
        )
        process.start()
        there.close()
        running[process], slots[process] = here, slot
        if stopping:  # told between the two lines above, which did not reach it
            process.terminate()

    def stop(number: int, frame: object) -> None:
        stopping.append(number)
        for process in running:
            process.terminate()

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    told: dict[BaseProcess, str] = {}
    try:
        for slot in range(len(arguments)):
            begin(slot)
        while running:
            # Of one that tells something, and of one that ends.
            for came in wait([*running.values(), *(p.sentinel for p in running)]):
                process = next(p for p, pipe in running.items() if came in (pipe, p.sentinel))
                if isinstance(came, Connection) and _told(came, process, told):
                    if ready is not None and len(told) == len(arguments) and not stopping:
                        ready(told[process])
                        ready = None
                    break
                process.join()
                running.pop(process).close()
                if not stopping:
                    if process not in told:
                        raise SystemExit(process.exitcode or 1)
                    _say_ended(process)
                    begin(slots.pop(process))
                break
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.join()
        for each, handler in before.items():
            signal.signal(each, handler)


def _told(pipe: Connection, process: BaseProcess, told: dict[BaseProcess, str]) -> bool:
    """Take what the process says; whether it said something."""
    try:
        told[process] = pipe.recv()
    except (EOFError, OSError):
        return False
    return True


def _say_ended(process: BaseProcess) -> None:
    print(
        say(
            f"プロセス {process.pid} が終わったので (終了コード {process.exitcode})、"
            "代わりを始めます",
            f"process {process.pid} ended (exit code {process.exitcode}); another one begins",
        ),
        file=sys.stderr,
        flush=True,
    )


def _serve(
    work: Work,
    arguments: tuple[Any, ...],
    listening: socket.socket,
    pipe: Connection,
    spoken: Any,
) -> None:
    def follow() -> None:
        # Nothing is ever sent: it ends with the first process, however that ends.
        with suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()
    with speaking(spoken):
        try:
            work(*arguments, listening, pipe.send)
        except InputError as error:
            remedy = f" ({error.remedy})" if error.remedy else ""
            place = f"{error.place}: " if error.place else ""
            print(f"{place}{error.message}{remedy}", file=sys.stderr, flush=True)
            sys.exit(2)
