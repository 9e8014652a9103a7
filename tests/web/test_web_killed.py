"""A server killed with SIGKILL, again and again, in a chat: what was acknowledged is there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import pytest

from servers.web_server import csrf
from waiting import PATIENCE

SERVER = Path(__file__).parents[1] / "servers" / "web_server.py"


class Killable:
    def __init__(self, state: Path) -> None:
        self.state, self.port = state, 0
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), str(self.state), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SERVER.parents[1])},
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.mark.slow
def test_no_acknowledged_line_is_lost_and_none_is_doubled(tmp_path: Path) -> None:
    chance = random.Random(7)
    server = Killable(tmp_path / "state")
    kills = 0
    stop = threading.Event()

    def killer() -> None:
        nonlocal kills
        while not stop.wait(0.3 + 1.2 * chance.random()) and kills < 4:
            server.kill()
            kills += 1
            server.start()

    try:
        with httpx2.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client:
            client.headers["x-csrf-token"] = csrf(client.get("/").text)
            begun = client.post("/echo", params={"times": 1000})
            id = begun.headers["location"].rpartition("/")[2]
            killing = threading.Thread(target=killer)
            killing.start()
            sent: list[str] = []
            until = time.monotonic() + PATIENCE
            while (kills < 4 or len(sent) < 40) and time.monotonic() < until:
                text = f"{len(sent)}番目の言葉"
                # As the page does: the same words to the same question until they are kept.
                step = ""
                while True:
                    try:
                        step = step or client.get(f"/echo/{id}").headers.get("x-step", "")
                        given = {"step": step, "text": text}
                        if not step:
                            continue
                        status = client.post(f"/conversations/{id}/answer", data=given).status_code
                        if status == 204:
                            sent.append(text)
                            break
                        assert status == 409, status
                    except httpx2.TransportError:
                        time.sleep(0.05)
            stop.set()
            killing.join(PATIENCE)
            for _ in range(10_000):
                lines = client.get(f"/echo/{id}").text.split("\n")
                if len(lines) >= len(sent):
                    break
                time.sleep(0.02)
    finally:
        stop.set()
        server.kill()
    assert kills == 4 and len(sent) >= 40
    assert lines == [f"{text}!" for text in sent]
