"""Runs commands on runs for the server: `naisei runs …`, each in its own process."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.lang import language, say
from naisei.runs.lock import locked
from naisei.system.spelled import option_words
from naisei.web.html import Refused
from naisei.web.state import ServerState

#: Maximum number of processes; seconds that a page waits for one before it shows progress, between
#: two checks, and from the end of the server to that of the processes.
_MOST, _WAIT, _LOOK, _GRACE = 2, 10.0, 0.05, 3.0
#: Exit codes of runs stopped by a limit or a signal, or with nothing scored.
_TOLD = (3, 4, 130)


class _Commands:
    """Running commands, which end when the server ends; their progress is stored."""

    def __init__(self, server: ServerState) -> None:
        self._open = is_loopback(server.options.host)
        self._endpoint = option_words(server.options.endpoint)
        self._running: dict[Path, asyncio.subprocess.Process] = {}
        self._tasks: set[asyncio.Task[bytes]] = set()
        server.at_end(self._end)

    async def carry_out(self, words: list[str], path: Path, *, wait: float = _WAIT) -> bool:
        """Execute `naisei runs WORDS`, which works on the run at `path`.

        Returns whether it is done. Returns `False` if it is still working after `wait` seconds, but
        not before the run has started. Raises `InputError` if it fails; a run that was stopped or
        not scored is reported on its page.
        """
        while path in self._running and not locked(path):  # it is starting or about to end
            await asyncio.sleep(_LOOK)
        if path not in self._running:
            if len(self._running) >= _MOST:
                raise Refused(
                    503,
                    "ほかの実行が終わるか、止めてから始めてください",
                    "wait until another run has ended, or stop it",
                )
            self._running[path] = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "naisei", "runs", *words, "-q", *self._endpoint),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=os.environ | {"NAISEI_LANG": language()},
                start_new_session=True,  # only the server gets Ctrl-C, and then ends them
            )
            task = asyncio.create_task(self._event_messages(path, process))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.wait({task}, timeout=wait)
            while not task.done():
                if locked(path):
                    return False
                await asyncio.wait({task}, timeout=_LOOK)
            if (code := process.returncode) and code not in _TOLD:
                self._refuse(code, task.result())
            return True
        return False

    def stop(self, path: Path) -> bool:
        """Ask the command on a run to stop at the next effect; returns whether there is one."""
        if (process := self._running.get(path)) is None:
            return False
        with suppress(ProcessLookupError):
            process.terminate()
        return True

    def __contains__(self, path: Path) -> bool:
        return path in self._running

    async def _event_messages(self, path: Path, process: asyncio.subprocess.Process) -> bytes:
        try:
            return (await process.communicate())[1]
        finally:
            del self._running[path]

    def _refuse(self, code: int, told: bytes) -> None:
        why = told.decode("utf-8", "replace").strip()[-1_000:]
        failed = say(f"できませんでした (終了コード {code})", f"it failed (exit code {code})")
        # The command's output contains server paths.
        raise InputError(f"{failed}: {why}" if self._open else failed, place=why)

    async def _end(self) -> None:
        for path in self._running:
            self.stop(path)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GRACE)
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.kill()
        await asyncio.gather(*self._tasks)


def commands_of(server: ServerState) -> _Commands:
    """Return the commands of the server."""
    return server.cached("commands", lambda: _Commands(server))
