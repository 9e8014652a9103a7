"""Several processes of `naisei serve` behind one address: any of them answers any request, and
every line is answered once, whichever is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from httpx2 import Client

from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.web.options import WebOptions
from servers import postgres_server
from servers.assistant_process import workers
from servers.web_server import WebServer
from waiting import PATIENCE, until
from web.test_conversations import begin, events, heard, say, step

SAID = ["休暇について教えてください", "看護休暇の日数です", "出張の宿泊費の上限は？"]


class Person:
    """Talks on the page of documents, and sends a line again until it is answered."""

    def __init__(self, url: str) -> None:
        self.client = httpx2.Client(base_url=url, timeout=PATIENCE, trust_env=False)
        self.answered = self.again = 0
        self.page = ""

    def talk(self) -> None:
        proof = re.search(r'name="csrf" content="([^"]+)"', self._asked("GET", "/").text)
        assert proof is not None
        self.client.headers["x-csrf-token"] = proof[1]
        begun = self._asked("POST", "/documents/new", shelf="handbook")
        self.page = begun.headers["hx-redirect"]
        step = ""
        for text in SAID:
            step = self._step(step)
            id = self.page.rpartition("/")[2]
            self._asked("POST", f"/conversations/{id}/answer", step=step, text=text)
            self.answered += 1
        self._step(step)

    def lines(self) -> tuple[list[str], int]:
        """What they said, and how often something was replied."""
        text = self._asked("GET", self.page).text
        said = re.findall(r'<li class="line mine">(.*?)</li>', text, re.DOTALL)
        return [re.sub("<[^>]*>", "", each) for each in said], text.count('<li class="line">')

    def _step(self, before: str) -> str:
        """Of the question that waits, another one than before."""
        found = before

        def asked() -> bool:
            nonlocal found
            got = re.search(r'name="step" value="([^"]+)"', self._asked("GET", self.page).text)
            found = got[1] if got else before
            return found != before

        until(asked)
        return found

    def _asked(self, method: str, path: str, **fields: str) -> httpx2.Response:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                answer = self.client.request(method, path, data=fields or None)
            except httpx2.TransportError:
                self.again += 1  # the process that had taken the connection is gone
                continue
            if answer.status_code < 400:
                return answer
            # Of a line that was taken before its process died, the step is over.
            if answer.status_code == 409 and path.endswith("/answer"):
                return answer
            assert answer.status_code in (502, 503), answer.text
            self.again += 1
        raise AssertionError("no answer")


def started(folder: Path, *args: str) -> tuple[subprocess.Popen[str], str]:
    """`naisei serve` by two processes, and its address."""
    (folder / "runs").mkdir()
    where = ["--state", str(folder / "state"), "--runs", str(folder / "runs"), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "naisei", "serve", "--workers", "2", *where, *args],
        stderr=subprocess.PIPE,
        env={**os.environ, "NAISEI_LANG": "en"},
        text=True,
    )
    assert process.stderr is not None
    found = re.search(r"http://[\d.]+:\d+", process.stderr.readline())
    assert found is not None
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, found[0]


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process, url = started(folder, *args)
    try:
        yield process, url
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_every_line_is_answered_once_though_a_process_is_killed(tmp_path: Path) -> None:
    with (
        postgres_server.running() as server,
        serving(tmp_path, "--store", server.url) as (process, url),
    ):
        people = [Person(url) for _ in range(12)]
        with ThreadPoolExecutor(12) as pool:
            going = [pool.submit(person.talk) for person in people]
            until(lambda: sum(person.answered for person in people) >= 6)
            os.kill(workers(process)[0], signal.SIGKILL)
            for each in going:
                each.result()
        assert [person.lines() for person in people] == [(SAID, 3)] * 12
        until(lambda: len(workers(process)) == 2)
        # One whose beginning was asked for again may have been left before it had a log.
        for person in people:
            id = person.page.rpartition("/")[2]
            (path,) = (tmp_path / "state" / "conversations").glob(f"*/{id}")
            with RunDirectory.look(path) as run:
                assert not run.log.verified().damages


@pytest.mark.slow
def test_processes_end_with_the_one_that_began_them(tmp_path: Path) -> None:
    with postgres_server.running() as server:
        process, _ = started(tmp_path, "--store", server.url)
        psutil = pytest.importorskip("psutil")
        begun = [psutil.Process(pid) for pid in workers(process)]
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(begun, PATIENCE)
        assert len(begun) == 2 and not alive


@pytest.fixture
def both(tmp_path: Path, postgres: Any) -> Iterator[list[Client]]:
    """One visitor at two processes of a server."""
    (tmp_path / "runs").mkdir()
    store = postgres.database()
    options = WebOptions(state=tmp_path / "state", runs=tmp_path / "runs", workers=2, store=store)
    with (
        WebServer(options) as one,
        one.visitor() as here,
        WebServer(options, alone=False) as two,
        two.visitor(here.cookies) as there,
    ):
        yield [here, there]


def test_a_conversation_is_gone_on_with_by_any_process(both: list[Client]) -> None:
    id = begin(both[0])
    for n, text in enumerate(["一", "二", "三"]):
        asked = step(both[n % 2], id)
        assert say(both[(n + 1) % 2], id, text, asked) == 204
        # Sent again, wherever it arrives, it is not said again.
        assert [say(client, id, text, asked) for client in both] == [204, 204]
    assert [heard(client, id, 3) for client in both] == [["一!", "二!", "三!"]] * 2


def test_whoever_follows_one_process_is_told_what_another_does(both: list[Client]) -> None:
    id = begin(both[0], times=2)
    with ThreadPoolExecutor(2) as pool:
        told = [pool.submit(events, client, id) for client in both]
        for text in ("一", "二"):
            asked = step(both[0], id)
            assert say(both[1], id, text, asked) == 204
            heard(both[0], id, ["一", "二"].index(text) + 1)
        for each in told:
            lines = [data for _, name, data in each.result() if name == "line"]
            assert "一!" in lines[0] and "二!" in lines[1] and len(lines) == 2


def test_of_two_different_answers_to_one_question_one_counts(both: list[Client]) -> None:
    id = begin(both[0])
    asked = step(both[0], id)
    with ThreadPoolExecutor(2) as pool:
        given = [pool.submit(say, c, id, t, asked) for c, t in zip(both, "ab", strict=True)]
        assert sorted(each.result() for each in given) == [204, 409]
    assert len(heard(both[0], id, 1)) == 1


def test_several_processes_need_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--workers 2"):
        WebOptions(state=tmp_path / "state", runs=tmp_path / "runs", workers=2)
