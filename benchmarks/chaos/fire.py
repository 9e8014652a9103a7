"""A run under fire: its processes, the endpoint that it pays, and what must be true of it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "runs")]

import toy  # noqa: E402

from benchmarks.attack.base import Attempt  # noqa: E402
from benchmarks.chaos.work import CONCURRENCY  # noqa: E402
from naisei.core import Message  # noqa: E402
from naisei.runs.directory import RunDirectory  # noqa: E402
from naisei.runs.repair import checked  # noqa: E402
from servers.faults import Faults  # noqa: E402
from servers.openai_server import OpenAIServer  # noqa: E402

#: Seconds after which a process that should go on hangs.
PATIENCE = 120.0
_WORK = ROOT / "benchmarks" / "chaos" / "work.py"


class Fell(Exception):
    """outcome: of a case, as the package has them."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(f"{outcome}: {why}")
        self.outcome, self.why = outcome, why


@dataclass
class Ground:
    """What cases share: a folder, and servers that are started when first needed."""

    folder: Path
    stack: ExitStack
    kept: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]


#: What is drawn is drawn from the first; files go below the second's folder.
Case = Callable[[random.Random, Ground, Path], Iterator[Attempt]]


def environment() -> dict[str, str]:
    """Of processes that are disturbed: this program, in English, with nobody's key."""
    paths = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tests" / "runs")]
    known = os.environ.get("PYTHONPATH", "")
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("NAISEI_")},
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [known])]),
        "NAISEI_LANG": "en",
        "OPENAI_API_KEY": "none",
    }


def patiently(happened: Callable[[], object], process: subprocess.Popen[str] | None = None) -> bool:
    """Whether it happened before the process ended."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if process is not None and process.poll() is not None:
            return bool(happened())
        if time.monotonic() > end:
            raise Fell("BROKEN", "it hangs")
        time.sleep(0.003)
    return True


class Endpoint(OpenAIServer):
    """Answers by the first message of the user. paid: how often each was answered well."""

    def __init__(self, faults: Faults | None = None, *, latency: float = 0.01, port: int = 0):
        super().__init__(self._said, faults=faults, latency=latency, keep=False, port=port)
        self.paid: Counter[str] = Counter()

    def _said(self, messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        word: str = toy.answer(_asked(messages))
        return toy.Reply(word=word).model_dump_json() if schema else word

    def _completion(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        if fault in (None, "slow", "trickle"):
            self.paid[_key(body["messages"])] += 1
        return super()._completion(body, fault)


def _key(messages: list[dict[str, Any]]) -> str:
    """Of a request: the toy asks each of its calls in words of its own."""
    return next(str(m["content"]) for m in messages if m["role"] == "user")


@dataclass(frozen=True)
class _Asked:
    messages: list[Message]


def _asked(messages: list[dict[str, Any]]) -> Any:
    """As much of a `Chat` as the toy's answer depends on."""
    words = "\n".join(m["content"] for m in messages if m["role"] == "system").split(toy.RULES)
    known = [toy.system(toy.RULES)] if len(words) > 1 else []
    return _Asked([*known, toy.user(_key(messages))])


def _expected(ground: Ground, n: int) -> bytes:
    """The results of a run that nobody disturbs, in this process and without an endpoint."""

    def make() -> bytes:
        import asyncio

        from naisei.runs.engine import run_task
        from naisei.runs.result import finish

        path, task = ground.folder / f"undisturbed-{n}", toy.Toy(n)
        with RunDirectory.of(task, path) as directory:
            finish(task, directory, asyncio.run(run_task(task, directory, toy.model())))
        return (path / "results.jsonl").read_bytes()

    made: bytes = ground.once(f"undisturbed-{n}", make)
    return made


class Fire:
    """One run. n: episodes of six calls. options: of `work.py`, for every process of it."""

    def __init__(
        self,
        ground: Ground,
        folder: Path,
        *options: str,
        n: int = 12,
        endpoint: Endpoint | None = None,
    ) -> None:
        self.ground, self.folder, self.n = ground, folder, n
        self.run, self.options = folder / "run", options
        self.expected = _expected(ground, n)
        self.endpoint = endpoint or Endpoint()
        self.total = n * 6
        #: Requests that were paid, and the log, as they were after each blow.
        self.blows: list[tuple[Counter[str], set[str]]] = []
        self.told: list[str] = []

    def __enter__(self) -> Fire:
        self.endpoint.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.endpoint.__exit__(None, None, None)

    @property
    def paid(self) -> int:
        return self.endpoint.paid.total()

    def command(self, *options: str, run: Path | None = None) -> list[str]:
        """run: another place of the run."""
        where = [str(run or self.run), self.endpoint.url, "--n", str(self.n)]
        return [sys.executable, str(_WORK), *where, *self.options, *options]

    def start(self, *options: str, run: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*options, run=run),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip

    def reached(self, process: subprocess.Popen[str], calls: int) -> bool:
        """Waits for so many paid calls; whether they came before it ended."""
        return patiently(lambda: self.paid >= calls, process)

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.blow()

    def blow(self) -> None:
        """Keep what is paid and logged now that nothing is in flight."""
        self.endpoint.left()
        self.blows.append((Counter(self.endpoint.paid), self.logged()))

    def settle(self) -> None:
        """Returns when no request of a process that was killed comes any more: some had been sent
        and not been taken yet."""
        paid = -1
        while paid != self.paid:
            paid = self.paid
            time.sleep(0.5)
            self.endpoint.left()

    def logged(self) -> set[str]:
        """Requests whose answers are in the log."""
        if not (self.run / "config.json").exists():
            return set()
        with RunDirectory.look(self.run, check=False) as directory:
            log = directory.log
            return {
                _key(event.request["messages"])  # type: ignore[index, call-overload, arg-type]
                for episode in log.known_episodes()
                for event in log.read(episode)
                if event.kind == "chat"
            }

    def ended(self, process: subprocess.Popen[str]) -> int:
        """Its exit code; 2 has told in one message. Raises `Fell` for a crash."""
        killer = threading.Timer(PATIENCE, process.kill)
        killer.start()
        try:
            _, err = process.communicate()
        finally:
            killer.cancel()
        code = process.returncode
        if code == 2 and "Traceback" not in err:
            self.told.append(err.strip())
        elif code != 0:
            why = "it hangs" if code == -signal.SIGKILL else err.strip()[-500:]
            raise Fell("BROKEN", f"exit {code}: {why}")
        return int(code)

    def finish(self, *, repaired: bool = False) -> None:
        """Go on to the end, and judge."""
        if self.ended(self.start()) != 0:
            raise Fell("BROKEN", f"it does not go on: {self.told[-1]}")
        self.judge(repaired=repaired)

    def judge(self, *, repaired: bool = False) -> None:
        """Raises `Fell`. repaired: it was told what of the log was lost; that is asked again."""
        results = (self.run / "results.jsonl").read_bytes()
        if results != self.expected:
            raise Fell("SILENTLY WRONG", "the results are not those of an undisturbed run")
        if damages := checked(self.run).damages:
            raise Fell("SILENTLY WRONG", f"the log: {damages[0]}")
        logged = self.logged()
        for paid, known in [] if repaired else self.blows:
            again = self.endpoint.paid - paid
            if twice := sorted(known & again.keys()):
                raise Fell("PAID TWICE", f"{len(twice)} calls of the log, such as {twice[0]}")
            if gone := sorted(known - logged):
                raise Fell("LOST", f"{len(gone)} calls of the log, such as {gone[0]}")
        if len(logged) != self.total:
            raise Fell("LOST", f"{len(logged)} of {self.total} calls are in the log")
        over = 0 if repaired else self.paid - len(self.endpoint.paid)
        # What was answered and not yet in the log: at most two calls of each episode in flight.
        if over > (most := len(self.blows) * CONCURRENCY * 2):
            raise Fell("PAID TWICE", f"{over} calls, more than the {most} that were in flight")

    def outcome(self) -> str:
        return "told" if self.told else "held"
