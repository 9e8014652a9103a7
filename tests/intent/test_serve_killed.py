"""A server that is killed in the middle of a talk loses no turn; one that is stopped ends well."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from servers.assistant_process import CLEAR, VAGUE, started
from waiting import PATIENCE


class _Process:
    """`naisei intent serve` as people start it."""

    def __init__(self, *args: str) -> None:
        self.process, self.url = started(*args)

    def post(self, data: dict[str, Any]) -> httpx2.Response:
        return httpx2.post(f"{self.url}/api/ask", json=data, timeout=PATIENCE, trust_env=False)

    def get(self, path: str) -> Any:
        return httpx2.get(f"{self.url}{path}", timeout=PATIENCE, trust_env=False).json()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_killed_in_a_chat_and_restarted_no_turn_is_lost(
    index: Path, tmp_path: Path, openai_server: Any
) -> None:
    stalled = openai_server(holds=0)
    args = ("--index", str(index), "--state", str(tmp_path / "state"))
    first = _Process(*args, "--answerer-model", "openai:test", "--base-url", stalled.url)
    asked = first.post({"message": VAGUE}).json()
    session = asked["session"]
    at = next(n for n, o in enumerate(asked["options"], 1) if "看護" in o)
    reply = {"message": str(at), "session": session}

    def hang() -> None:
        with pytest.raises(httpx2.HTTPError):
            first.post(reply)

    waiting = threading.Thread(target=hang)
    waiting.start()
    stalled.reached(1)
    first.end(signal.SIGKILL)
    waiting.join()

    second = _Process(*args)  # the model is gone too: the rules answer
    turns = second.get(f"/api/session/{session}")["turns"]
    assert [t["said"] for t in turns] == [VAGUE, str(at)]
    assert turns[0]["reply"]["route"] == "ask" and turns[1]["reply"] is None
    again = second.post(reply).json()
    assert again["query"].startswith(VAGUE) and again["citations"][0]["path"] == "nursing.md"
    assert len(second.get(f"/api/session/{session}")["turns"]) == 2
    assert second.end(signal.SIGTERM) == 0


@pytest.mark.slow
def test_stopped_it_finishes_what_is_in_flight(
    index: Path, tmp_path: Path, openai_server: Any
) -> None:
    slow = openai_server(holds=0)
    server = _Process(
        *("--index", str(index), "--state", str(tmp_path / "state")),
        *("--evaluator-model", "openai:test", "--base-url", slow.url),
    )
    replies: list[httpx2.Response] = []
    waiting = threading.Thread(target=lambda: replies.append(server.post({"message": CLEAR})))
    waiting.start()
    slow.reached(1)
    server.process.send_signal(signal.SIGTERM)
    slow.release()
    assert server.end(signal.SIGTERM) == 0
    waiting.join()
    assert replies[0].status_code == 200 and replies[0].json()["route"] in ("ask", "search")


def test_a_mistake_is_one_message(index: Path, tmp_path: Path) -> None:
    def told(*args: str) -> str:
        command = [sys.executable, "-m", "naisei", "intent", "serve", *args]
        state = ("--state", str(tmp_path / "state"))
        env = {**os.environ, "NAISEI_LANG": "en"}
        done = subprocess.run(
            [*command, *state], capture_output=True, text=True, env=env, timeout=PATIENCE
        )
        assert done.returncode == 2 and "Traceback" not in done.stderr
        return done.stderr

    assert "token is needed" in told("--index", str(index), "--host", "0.0.0.0")
    assert "no index" in told("--index", str(tmp_path / "nothing"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "cannot listen" in told("--index", str(index), "--port", port)
