"""`naisei intent serve` in a process of its own, and people who talk to it until answered."""

from __future__ import annotations

import os
import re
import secrets
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from waiting import PATIENCE

VAGUE = "休暇について教えてください"
#: Reading the certificates of the system, for each client anew, is 30 ms of CPU.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CLEAR = "国内出張の宿泊費の上限はいくらですか"


def started(*args: str) -> tuple[subprocess.Popen[str], str]:
    """`naisei intent serve` and its address; on any free port unless one is given."""
    env = {**os.environ, "NAISEI_LANG": "en"}
    port = () if "--port" in args else ("--port", "0")
    command = [sys.executable, "-m", "naisei", "intent", "serve", *port, *args]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=env, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://[\d.]+:\d+", line)
    if not found:
        process.kill()
        raise AssertionError(line + process.communicate()[1])
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, found[0]


@contextmanager
def served(*args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """As `started`, until it is left."""
    process, url = started(*args)
    try:
        yield process, url
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def workers(process: subprocess.Popen[str]) -> list[int]:
    """The processes that serve."""
    psutil = pytest.importorskip("psutil")
    return [
        child.pid
        for child in psutil.Process(process.pid).children()
        if "spawn_main" in " ".join(child.cmdline())
    ]


class Talker:
    """Whoever sends a line again until it is answered."""

    def __init__(self, url: str) -> None:
        self.url, self.session = url, ""

    def say(self, text: str) -> dict[str, Any]:
        data = {"message": text, "id": secrets.token_urlsafe(24)}
        if self.session:
            data["session"] = self.session
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with httpx2.Client(timeout=PATIENCE, trust_env=False, verify=_NO_TLS) as client:
                    answer = client.post(f"{self.url}/api/ask", json=data)
            except httpx2.HTTPError:
                continue
            if answer.status_code == 200:
                told: dict[str, Any] = answer.json()
                self.session = told["session"]
                return told
            assert answer.status_code in (503, 504), answer.text
        raise AssertionError("no answer")

    def talk(self) -> list[str]:
        """A vague question, which of the choices it was, and a clear one; what was said."""
        options = self.say(VAGUE)["options"]
        said = [VAGUE, str(next(n for n, o in enumerate(options, 1) if "看護" in o)), CLEAR]
        answer = self.say(said[1])
        assert answer["citations"][0]["path"] == "nursing.md"
        self.say(said[2])
        return said


def all_answered_once(url: str, talkers: list[Talker], said: list[list[str]]) -> None:
    for talker, lines in zip(talkers, said, strict=True):
        path = f"{url}/api/session/{talker.session}"
        turns = _got(path).json()["turns"]
        assert [turn["said"] for turn in turns] == lines
        assert all(turn["reply"] is not None for turn in turns)


def _got(path: str) -> httpx2.Response:
    """Asked for again where the process that had taken the connection was killed meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return httpx2.get(path, timeout=PATIENCE, trust_env=False, verify=_NO_TLS)
        except httpx2.TransportError:
            if time.monotonic() > end:
                raise
