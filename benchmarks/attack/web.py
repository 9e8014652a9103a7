"""The two servers under odd, broken, large, slow and many requests: never 500, `/health` in time
meanwhile, memory flat, nothing written by whoever only looks, guesses at the token limited.

The server of pages and that of documents run as commands in processes of their own.
"""

from __future__ import annotations

import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.attack.base import Attempt
from benchmarks.attack.generated import DOCUMENTS, WEB, requests
from benchmarks.attack.http_requests import (
    ASKED,
    PAGES,
    REQUESTS,
    Asked,
    chat,
    request,
    said,
)
from naisei.lengths import GUESSES, HEADERS_SECONDS

#: Seconds that `/health` may take while other things go on, and a request may take in all.
_HEALTH, _LONGEST = 0.5, 20.0
#: Seconds that generated requests have at least.
_LEAST = 4.0
_TOKEN = "a-token-that-nobody-guesses-22"


@contextmanager
def _server(*command: str, **variables: str) -> Iterator[tuple[int, int]]:
    """Its port and process id."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "naisei", *command, "--port", "0"],
        stderr=subprocess.PIPE,
        env={**os.environ, "NAISEI_LANG": "en", **variables},
        text=True,
    )
    try:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            if found := re.search(r"http://[^:]+:(\d+)", line):
                port = int(found[1])
                break
        if not port:
            raise RuntimeError("the server did not start")
        os.set_blocking(process.stderr.fileno(), False)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def _open(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), _LONGEST)


def _answer(port: int, asked: Asked) -> tuple[int, bytes]:
    """Status and all of the answer; 0 where the connection was closed, -1 for none in time."""
    with _open(port) as connection:
        connection.settimeout(_LONGEST if asked.whole else HEADERS_SECONDS + 3)
        got = b""
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(asked.data)
            while len(got) < 5_000_000 and (block := connection.recv(65536)):
                got += block
        except TimeoutError:
            return -1, got
        except OSError:
            pass
    found = re.match(rb"HTTP/1\.1 (\d{3})", got)
    return int(found[1]) if found else 0, got


def _health(port: int) -> float:
    began = time.monotonic()
    status, _ = _answer(port, request("GET", "/health"))
    return time.monotonic() - began if status == 200 else 99.0


class _Watched:
    """`/health` from another process, while requests go on: the longest of its answers."""

    def __init__(self, port: int) -> None:
        code = (
            "import sys; from benchmarks.attack.web import _health; import time\n"
            "worst = 0.0\n"
            "print('begun', flush=True)\n"
            "import select\n"
            "while not select.select([sys.stdin], [], [], 0.05)[0]:\n"
            f"    worst = max(worst, _health({port}))\n"
            "print(worst)"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def worst(self) -> float:
        out, _ = self._process.communicate("x")
        return float(out.strip() or 99)


def _memory(pid: int) -> int:
    """Bytes that a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _tried(port: int, kind: str, name: str, asked: Asked) -> Attempt:
    status, got = _answer(port, asked)
    fell = status == 500 or status < 0 or b"Traceback" in got or b"evil.example" in got
    if not fell and _health(port) > _LONGEST:
        return Attempt(kind, "the server is gone", True, name)
    return Attempt(
        kind, f"{status // 100}xx" if status > 0 else "closed", fell, f"{name}: {status}"
    )


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        state, runs = Path(folder) / "state", Path(folder) / "runs"
        runs.mkdir()
        with _server("serve", "--state", str(state), "--runs", str(runs)) as (port, pid):
            yield from _pages(rng, port, pid, state, until - seconds / 2)
        with _server("serve", "--state", str(state), "--runs", str(runs),
                     NAISEI_WEB_TOKEN=_TOKEN) as (port, _):  # fmt: skip
            yield _guesses(port, lambda token: request(
                "GET", "/runs", {"authorization": f"Bearer {token}", "hx-request": "1"}
            ))  # fmt: skip
        index = Path(folder) / "index"
        documents = Path(__file__).parents[2] / "src/naisei/data/handbook"
        subprocess.run(
            [sys.executable, "-P", "-m", "naisei", "intent", "index", str(documents), "--index",
             str(index), "--embedder", "ngram"],
            check=True, capture_output=True,
        )  # fmt: skip
        asking = ("intent", "serve", "--index", str(index), "--state", f"{folder}/sessions")
        with _server(*asking, NAISEI_SERVE_TOKEN=_TOKEN) as (port, _):
            yield _guesses(port, lambda token: request(
                "GET", "/v1/models", {"authorization": f"Bearer {token}"}
            ))  # fmt: skip
        with _server(*asking) as (port, pid):
            yield from _assistant(rng, port, pid, until)


def _pages(rng: random.Random, port: int, pid: int, state: Path, until: float) -> Iterator[Attempt]:
    looked = _content(state)
    for page in PAGES:
        yield _tried(port, "page", page, request("GET", page))
    kept = _content(state)
    yield Attempt("only looking", "leaves nothing" if kept == looked else "leaves folders",
                  kept != looked, str(sorted(kept - looked))[:200])  # fmt: skip
    yield from _crowd(port)
    for name, asked in REQUESTS.items():
        yield _tried(port, "request", name, asked)
    visitor = _visitor(port)
    yield from requests(rng, port, WEB, visitor, _half(until), lambda: _health(port))

    def form() -> Asked:
        fields = urlencode({"text": f"{rng.random()} 冷房を入れて", "agent": "bayes"}).encode()
        kind = {"content-type": "application/x-www-form-urlencoded", **visitor}
        return request("POST", f"{rng.choice(PAGES)}/new", kind, fields)

    yield from _flat(port, pid, form, 300)


def _half(until: float) -> float:
    """When half of the time that is left has gone by, or a few seconds where little is."""
    now = time.monotonic()
    return now + max(_LEAST, (until - now) / 2)


def _visitor(port: int) -> Mapping[str, str]:
    """The headers of somebody who looked at a page."""
    _, page = _answer(port, request("GET", "/"))
    cookie = re.search(rb"(?mi)^set-cookie: (naisei_visitor[^;]+)", page)
    proof = re.search(rb'name="csrf" content="([^"]+)"', page)
    assert cookie is not None and proof is not None
    return {"cookie": cookie[1].decode(), "x-csrf-token": proof[1].decode()}


def _content(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _crowd(port: int) -> Iterator[Attempt]:
    """More connections than the server takes, none of which ends its headers."""
    held: list[socket.socket] = []
    try:
        with suppress(OSError):
            for _ in range(1005):
                connection = _open(port)
                connection.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")
                held.append(connection)
        took = _health(port)
        yield Attempt("unfinished headers", "others get in" if took < 2 else "keep others out",
                      took >= 2, f"{len(held)} held, /health took {took:.2f} s")  # fmt: skip
        patience = time.monotonic() + HEADERS_SECONDS + 5
        with selectors.DefaultSelector() as waiting:
            for connection in held:
                waiting.register(connection, selectors.EVENT_READ)
            left = len(held)
            while left and time.monotonic() < patience:
                for key, _ in waiting.select(1):
                    waiting.unregister(key.fileobj)
                    left -= 1
        yield Attempt("unfinished headers", "are closed in time" if not left else "stay",
                      bool(left), f"{left} of {len(held)} are left")  # fmt: skip
    finally:
        for connection in held:
            connection.close()


def _guesses(port: int, request: Callable[[str], Asked]) -> Attempt:
    looked_at = sum(
        _answer(port, request(f"a-wrong-token-number-{n}"))[0] != 429 for n in range(60)
    )
    right = _answer(port, request(_TOKEN))[0]
    fell = looked_at > GUESSES or right == 200
    return Attempt("guesses at a token", "limited" if not fell else "not limited", fell,
                   f"{looked_at} of 60 were looked at")  # fmt: skip


def _flat(port: int, pid: int, request: Callable[[], Asked], most: int) -> Iterator[Attempt]:
    """Memory after some requests, and after many more."""
    for _ in range(most // 5):
        _answer(port, request())
    before = _memory(pid)
    for _ in range(most):
        _answer(port, request())
    grew = _memory(pid) - before
    yield Attempt("memory", "flat" if grew < 60e6 else "grows", grew >= 60e6,
                  f"{grew / 1e6:.0f} MB more after {most} requests")  # fmt: skip


def _assistant(rng: random.Random, port: int, pid: int, until: float) -> Iterator[Attempt]:
    _answer(port, chat([said("休暇は？")]))  # what is made once
    yield from requests(rng, port, DOCUMENTS, {}, _half(until), lambda: _health(port))
    for name, asked in {**ASKED, **REQUESTS}.items():
        if time.monotonic() > until + 30:
            return
        watched = _Watched(port) if name.startswith(("dear", "long", "many", "deep")) else None
        yield _tried(port, "question", name, asked)
        if watched is not None:
            worst = watched.worst()
            yield Attempt("/health meanwhile", "in time" if worst < _HEALTH else "late",
                          worst >= _HEALTH, f"{name}: {worst:.2f} s")  # fmt: skip
    words = ("休暇", "経費", "残業", "申請", "どこ", "いつまで", "在宅", "通勤", "？", "の", "は")

    def question() -> Asked:
        return chat([said("".join(rng.choices(words, k=40)) + str(rng.random()))])

    spare = max(0.0, until - time.monotonic())
    began = time.monotonic()
    _answer(port, question())
    each = max(0.02, time.monotonic() - began)
    yield from _flat(port, pid, question, int(max(20, min(1000, spare / each / 1.3))))
