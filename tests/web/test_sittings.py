"""Conversations over HTTP: kept before they are acknowledged, resumed, seen by one visitor."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import httpx2
import pytest

from naisei.runs.directory import RunDirectory
from naisei.web.options import WebOptions
from servers.web_server import WebServer


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


def begin(client: httpx2.Client, **query: int) -> str:
    return client.post("/echo", params=query).url.path.rpartition("/")[2]


def step(client: httpx2.Client, id: str) -> str:
    for _ in range(200):
        if found := client.get(f"/echo/{id}").headers["x-step"]:
            return found
        time.sleep(0.01)
    raise AssertionError("nothing is asked")


def say(client: httpx2.Client, id: str, text: str, at: str | None = None) -> int:
    given = {"step": at or step(client, id), "text": text}
    return client.post(f"/sittings/{id}/answer", data=given).status_code


def heard(client: httpx2.Client, id: str, n: int) -> list[str]:
    for _ in range(200):
        lines = client.get(f"/echo/{id}").text.split()
        if len(lines) >= n:
            return lines
        time.sleep(0.01)
    raise AssertionError(f"{lines}")


def events(client: httpx2.Client, id: str, *, after: int = 0) -> list[tuple[str, str, str]]:
    """(id, event, data) until the stream ends."""
    found, number, name, data = [], "", "", []
    with client.stream("GET", f"/sittings/{id}/events", params={"after": after}) as stream:
        for line in stream.iter_lines():
            key, _, value = line.partition(": ")
            if key == "id":
                number = value
            elif key == "event":
                name = value
            elif key == "data":
                data.append(value)
            elif line == "" and name:
                found.append((number, name, "\n".join(data)))
                number, name, data = "", "", []
    return found


def test_a_conversation_from_first_line_to_last(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=2)
        assert say(client, id, "やあ") == 204
        assert heard(client, id, 1) == ["やあ!"]
        assert say(client, id, "<script>x()</script>") == 204
        told = events(client, id)
    lines = [data for _, name, data in told if name == "line"]
    assert "やあ!" in lines[0] and "&lt;script&gt;" in lines[1] and "<script>" not in lines[1]
    assert [name for _, name, _ in told][-1] == "end"


def test_a_page_that_comes_back_is_told_only_what_it_missed(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=2)
        say(client, id, "一")
        heard(client, id, 1)
        say(client, id, "二")
        heard(client, id, 2)
        first = events(client, id)
        last_seen = int(next(number for number, name, _ in first if name == "line"))
        again = [d for _, name, d in events(client, id, after=last_seen) if name == "line"]
    assert len(again) == 1 and "二!" in again[0]


def test_nothing_is_lost_when_the_server_goes_and_comes_back(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        say(client, id, "一")
        heard(client, id, 1)
        at = step(client, id)
        cookies = client.cookies
    with WebServer(options) as server, server.visitor(cookies) as client:
        assert client.get(f"/echo/{id}").text == "一!"
        assert step(client, id) == at
        assert say(client, id, "二", at) == 204
        assert heard(client, id, 2) == ["一!", "二!"]


def test_the_same_answer_again_is_taken_once(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        at = step(client, id)
        assert say(client, id, "一", at) == 204
        assert say(client, id, "一", at) == 204
        assert say(client, id, "別", at) == 409
        assert heard(client, id, 1) == ["一!"]


def test_an_empty_answer_is_refused_and_the_question_stays(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        at = step(client, id)
        assert say(client, id, "  ", at) == 422
        assert step(client, id) == at


def test_nobody_else_sees_or_touches_a_conversation(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as mine, server.visitor() as theirs:
        id = begin(mine)
        at = step(mine, id)
        for path in (f"/echo/{id}", f"/sittings/{id}", f"/sittings/{id}/events"):
            assert theirs.get(path).status_code == 404
        assert say(theirs, id, "私も", at) == 404
        for verb in ("retry", "forget"):
            assert theirs.post(f"/sittings/{id}/{verb}").status_code == 404
        assert "echo" not in theirs.get("/").text.partition("<main")[2]
        assert "&lt;b&gt;echo" in mine.get("/").text
        assert mine.post(f"/sittings/{id}/forget").status_code == 204
        assert mine.get(f"/echo/{id}").status_code == 404


def test_it_is_a_run_directory_like_any_other(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=1)
        say(client, id, "一")
        events(client, id)
    (path,) = (options.state / "sittings").glob(f"*/{id}")
    with RunDirectory.look(path) as run:
        assert [e.kind for e in run.log.read("sitting#0")] == ["ask", "say"]
        assert run.log.rows()["sitting#0"].result == {"heard": ["一"]}
    assert json.loads((path / "config.json").read_text("utf-8"))["system"] == "web"


def test_who_follows_is_told_as_it_happens(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=1)
        told: list[tuple[str, str, str]] = []
        listener = threading.Thread(target=lambda: told.extend(events(client, id)))
        listener.start()
        time.sleep(0.2)
        say(client, id, "今")
        listener.join(10)
    assert any(name == "line" and "今!" in data for _, name, data in told)
