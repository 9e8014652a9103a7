"""Runs parsers of untrusted files in a separate process, with limits.

A file can make a parser loop, exhaust memory or crash; here it only fails with one message. The
process handles files one after another, so that a folder needs only one start.

    with Sandbox() as sandbox:
        answer = sandbox.call("naisei.retrieval.load:answered", {"name": "a.pdf"}, data)

Run as `python -m naisei.sandbox`. Requests are a line of JSON and the file's bytes; answers are a
line of JSON, since a parser's output is as untrusted as its input.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

from naisei.core import NaiseiError
from naisei.lang import language, say
from naisei.lengths import PARSE_MEMORY, PARSE_OUTPUT, PARSE_SECONDS

#: Environment variables of a parser, without keys and tokens.
_ENVIRONMENT = frozenset(
    {"PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "HOME", "TMPDIR", "SYSTEMROOT", "TZ"}
)
#: Processor time is limited; a process that hangs is killed after this many times the limit in
#: wall-clock time.
_PATIENCE = 30


class ParserStopped(NaiseiError):
    """why: one phrase in the user's language. crashed: the process ended by itself."""

    def __init__(self, why: str, *, crashed: bool = False) -> None:
        self.why, self.crashed = why, crashed
        super().__init__(why)


class Sandbox:
    """A parser process, started by the first call; for one thread at a time.

    seconds: processor time per call. memory: bytes of address space. output: bytes per answer.
    """

    def __init__(
        self,
        *,
        seconds: float = PARSE_SECONDS,
        memory: int = PARSE_MEMORY,
        output: int = PARSE_OUTPUT,
    ) -> None:
        self.seconds, self.memory, self.output = seconds, memory, output
        self._process: subprocess.Popen[bytes] | None = None
        # Whether the process has served a call: allocators return little memory to the system.
        self._worn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(self, function: str, options: Mapping[str, Any], data: bytes) -> Any:
        """Return the result of `module:name` for (data, options); options and result are JSON.

        Raises:
            ParserStopped: it exceeded a limit of time, memory or output, or crashed.
        """
        worn, process = self._worn, self._running()
        assert process.stdin is not None and process.stdout is not None
        head = {
            "function": function,
            "options": options,
            "size": len(data),
            "seconds": self.seconds,
            "language": language(),
        }
        try:
            process.stdin.write(json.dumps(head).encode() + b"\n")
            process.stdin.write(data)
            process.stdin.flush()
            line = self._line(process.stdout)
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):
            stopped = self._stopped(line)
            if worn and stopped.crashed:
                return self.call(function, options, data)
            raise stopped
        self._worn = True
        return json.loads(line)

    def close(self) -> None:
        """End the process; the next call starts another."""
        process, self._process, self._worn = self._process, None, False
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _line(self, pipe: BinaryIO | Any) -> bytes:
        found = bytearray()
        while not found.endswith(b"\n") and len(found) <= self.output:
            if not select.select([pipe], [], [], _PATIENCE * self.seconds)[0]:
                break
            block = os.read(pipe.fileno(), 1 << 20)
            if not block:
                break
            found += block
        return bytes(found)

    def _stopped(self, line: bytes) -> ParserStopped:
        process = self._process
        assert process is not None
        if len(line) > self.output:
            self.close()
            most = f"{self.output / 1e6:.0f} MB"
            return ParserStopped(
                say(f"読み取った内容が {most} を超えています", f"what it holds is over {most}")
            )
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)  # its output ends before the process does
        ended = process.poll()
        self.close()
        if ended is None or ended == -signal.SIGPROF:
            return ParserStopped(
                say(
                    f"読むのに {self.seconds:g} 秒以上かかります",
                    f"takes more than {self.seconds:g} s to read",
                )
            )
        return ParserStopped(
            say(
                "壊れているか、読むのに必要なメモリーが多すぎます (読み取りが異常終了しました)",
                "broken, or needs too much memory (its parser crashed)",
            ),
            crashed=True,
        )

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            kept = {
                name: value
                for name, value in os.environ.items()
                if name in _ENVIRONMENT or name.startswith(("LANG", "LC_", "NAISEI_LANG"))
            }
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "naisei.sandbox", str(self.memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Threads would use address space, and processor time of other processes.
                env=kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                # Ctrl-C is for the command, which ends its parsers itself.
                start_new_session=True,
            )
        return self._process


def main() -> None:
    """Serve calls until standard input closes. The argument: bytes of memory."""
    _limit(int(sys.argv[1]))
    # As in the command line: parsers create many objects and few cycles.
    gc.set_threshold(20_000, 20, 50)
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls = sys.stdin.buffer
    while line := calls.readline():
        head = json.loads(line)
        data = calls.read(head["size"])
        os.environ["NAISEI_LANG"] = head["language"]
        module, _, name = head["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        # The signal's default action ends the process, whatever code is running.
        signal.setitimer(signal.ITIMER_PROF, head["seconds"])
        written = json.dumps(function(data, head["options"])).encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(written + b"\n")
        answers.flush()


def _limit(memory: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A parser may not write files.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


if __name__ == "__main__":
    main()
