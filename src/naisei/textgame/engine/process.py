"""A game interpreter in its own process, and a pool of them."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.textgame.schemas import View
from naisei.textgame.texts import read_foods

_EAT = "eat meal"


def completed(view: View) -> View:
    """Add `eat meal` to the candidates while a meal is held.

    In games with a carrying limit, textworld 1.7 does not list `eat`, `drop`, `put` or `insert`
    while a single thing is held, but the game accepts them.
    """
    if view.done or _EAT in view.candidates or "meal" not in read_foods(view.inventory):
        return view
    return view.model_copy(update={"candidates": (*view.candidates, _EAT)})


#: Most seconds for compiling a game; it usually takes one or two, more on a busy
#: machine.
_COMPILING = 600.0


class BrokenGame(InputError):
    """The file of a game is broken; other games of the set are still played."""


class GameProcess:
    """An interpreter process; starts with its first game and can open others.

    timeout: seconds for one answer; then the interpreter counts as hung.
    """

    def __init__(self, *, timeout: float = 60.0) -> None:
        self.timeout = timeout
        #: Whether an answer is pending.
        self.busy = False
        self._process: subprocess.Popen[str] | None = None
        self._answers: SimpleQueue[str] = SimpleQueue()

    def open(self, path: Path) -> View:
        """Start the game at `path` (.z8). Raises `InstrumentFailure` if that fails."""
        return self._ask({"open": str(path)})

    def step(self, command: str) -> View:
        """Perform a command. Raises `InstrumentFailure` if the interpreter crashed or hangs."""
        return self._ask({"step": command})

    def compile(self, source: Path, target: Path) -> None:
        """Compile a `.json` to the `.z8` at `target`, with a `.json` beside it.

        Raises:
            BrokenGame: textworld rejects the file.
            OSError: the disk is full or read-only.
            InstrumentFailure: the process crashed or hung.
        """
        answer = self._answer({"compile": str(source), "to": str(target)}, _COMPILING)
        if "errno" in answer:
            raise OSError(answer["errno"], answer["error"])
        if "error" not in answer:
            return
        raise BrokenGame(
            say("TextWorld のゲームではありません: ", "this is not a TextWorld game: ")
            + answer["error"]
            if answer["step"] == "load"
            else say("コンパイルできません: ", "it cannot be compiled: ") + answer["error"],
            place=str(source),
            remedy=say("作り直すか、除いてください", "generate it again, or leave it out"),
        )

    def close(self) -> None:
        """End the process, from any thread. The next command restarts it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # the process never read the last request
                        pipe.close()

    def _ask(self, request: dict[str, str]) -> View:
        answer = self._answer(request, self.timeout)
        if "error" in answer:
            raise self._ended(str(answer["error"]))
        return completed(View.model_validate(answer))

    def _answer(self, request: dict[str, str], timeout: float) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        self.busy = True
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = self._answers.get(timeout=timeout)
        except (OSError, ValueError) as error:  # the process died meanwhile
            raise self._ended("the game interpreter crashed") from error
        except Empty as error:
            raise self._ended(f"no answer within {timeout:g} s") from error
        finally:
            self.busy = False
        if not line:
            raise self._ended("the game interpreter crashed")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self, why: str) -> InstrumentFailure:
        code = self._process.poll() if self._process is not None else None
        self.close()
        return InstrumentFailure(why if code is None else f"{why} (exit status {code})")

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "naisei.textgame.engine.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                # Ctrl-C must not reach the interpreters: the run ends them.
                start_new_session=True,
            )
            self._answers = SimpleQueue()
            # A reader thread, since reads from a pipe have no timeout.
            Thread(target=_read, args=(self._process, self._answers), daemon=True).start()
        return self._process


def _read(process: subprocess.Popen[str], answers: SimpleQueue[str]) -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            answers.put(line)
    except ValueError:  # closed during the read
        pass
    answers.put("")


class ProcessPool:
    """Hands out an idle interpreter or starts one. The run's concurrency bounds their number."""

    def __init__(self, *, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._idle: SimpleQueue[GameProcess] = SimpleQueue()

    def borrow(self) -> GameProcess:
        try:
            return self._idle.get_nowait()
        except Empty:
            return GameProcess(timeout=self.timeout)

    def give_back(self, process: GameProcess) -> None:
        """Return an interpreter; one with a pending answer is ended."""
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
