"""Several processes of `naisei serve` behind one address: each visitor is served by one of them,
and every line is answered once, whichever is killed."""

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

import httpx2
import pytest
from naisei.web.peers import Place

from naisei.runs.directory import RunDirectory
from naisei.web.visitors import Visitor
from servers import postgres_server
from servers.assistant_process import workers
from waiting import PATIENCE, until

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


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    (folder / "runs").mkdir()
    where = ["--state", str(folder / "state"), "--runs", str(folder / "runs"), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "naisei", "serve", *where, *args],
        stderr=subprocess.PIPE,
        env={**os.environ, "NAISEI_LANG": "en"},
        text=True,
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://[\d.]+:\d+", process.stderr.readline())
        assert found is not None
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield process, found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.slow
@pytest.mark.parametrize("store", ["files", "postgres"])
def test_every_line_is_answered_once_though_a_process_is_killed(tmp_path: Path, store: str) -> None:
    with (
        postgres_server.running() if store == "postgres" else nothing() as server,
        serving(tmp_path, "--workers", "2", *(("--store", server.url) if server else ())) as (
            process,
            url,
        ),
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
        # Of those whose beginning was asked for again there is one that is empty.
        logs = list((tmp_path / "state" / "conversations").glob("*/*"))
        assert len(logs) >= 12
        for path in logs:
            assert (path / "store.json").exists() == (store == "postgres")
            with RunDirectory.look(path) as run:
                assert not run.log.verified().damages


@contextmanager
def nothing() -> Iterator[None]:
    yield None


@pytest.mark.slow
def test_whoever_follows_is_told_by_the_process_that_knows(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (process, url):
        for _ in range(4):  # half of them come to the other process first
            person = Person(url)
            person.talk()
            id = person.page.rpartition("/")[2]
            with person.client.stream("GET", f"/conversations/{id}/events") as events:
                assert events.headers["content-type"].startswith("text/event-stream")
                assert next(events.iter_text())
            person.client.close()
        assert len(workers(process)) == 2


def test_a_visitor_is_always_served_by_the_same_process(tmp_path: Path) -> None:
    places = [Place(n, 3, tmp_path) for n in range(3)]
    owners = [places[n % 3].owner(Visitor(f"{n:08x}" * 4, "")) for n in range(30)]
    assert sorted(set(owners)) == [0, 1, 2] and owners[:3] == owners[3:6]
