"""Interpreters shared by the games of a run: starting one takes longer than playing."""

from __future__ import annotations

from queue import Empty, SimpleQueue

from naisei.textgame.engine.process import GameProcess

__all__ = ["ProcessPool"]


class ProcessPool:
    """Hands out an idle interpreter, or a new one. How many play at once is the run's
    concurrency."""

    def __init__(self, *, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._idle: SimpleQueue[GameProcess] = SimpleQueue()

    def borrow(self) -> GameProcess:
        try:
            return self._idle.get_nowait()
        except Empty:
            return GameProcess(timeout=self.timeout)

    def give_back(self, process: GameProcess) -> None:
        """An interpreter that still owes an answer is ended: nobody waits for it any more."""
        if process.busy:
            process.close()
        self._idle.put(process)

    def close(self) -> None:
        """End all idle interpreters."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return
