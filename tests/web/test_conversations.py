"""Conversations over HTTP: kept before they are acknowledged, resumed, seen by one visitor."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from changed_logs import change
from naisei.cli.runs import continue_run
from naisei.core import InputError, World
from naisei.runs import conversation
from naisei.system.execute import RunOptions
from naisei.web.options import WebOptions
from naisei.web.state import ServerState
from servers.web_server import WebServer
from waiting import PATIENCE, log_refused, until


def begin(client: httpx2.Client, **query: int) -> str:
    return client.post("/echo", params=query).url.path.rpartition("/")[2]


def step(client: httpx2.Client, id: str) -> str:
    return until(lambda: str(client.get(f"/echo/{id}").headers["x-step"]))


def say(client: httpx2.Client, id: str, text: str, at: str | None = None) -> int:
    given = {"step": at or step(client, id), "text": text}
    return client.post(f"/conversations/{id}/answer", data=given).status_code


def heard(client: httpx2.Client, id: str, n: int) -> list[str]:
    def lines() -> list[str]:
        found = client.get(f"/echo/{id}").text.split()
        return found if len(found) >= n else []

    return until(lines)


def events(
    client: httpx2.Client, id: str, *, after: int = 0, opened: Callable[[], None] = lambda: None
) -> list[tuple[str, str, str]]:
    """(id, event, data) until the stream ends. opened: called once it has begun."""
    found, number, name, data = [], "", "", []
    with client.stream("GET", f"/conversations/{id}/events", params={"after": after}) as stream:
        opened()
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


def test_an_answer_is_not_refused_before_the_flow_has_come_to_its_question_again(
    options: WebOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        at, cookies = step(client, id), client.cookies
    opened, world = threading.Event(), ServerState.world

    async def late(self: ServerState, *args: Any, **more: Any) -> World:
        await asyncio.to_thread(opened.wait, PATIENCE)
        return await world(self, *args, **more)

    monkeypatch.setattr(ServerState, "world", late)
    with WebServer(options) as server, server.visitor(cookies) as client:
        with monkeypatch.context() as hurried:
            hurried.setattr(conversation, "_ACK", 0.01)
            early = say(client, id, "一", at)
        opened.set()
        assert early == 503
        assert say(client, id, "一", at) == 204
        assert heard(client, id, 1) == ["一!"]


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
        for path in (f"/echo/{id}", f"/conversations/{id}", f"/conversations/{id}/events"):
            assert theirs.get(path).status_code == 404
        assert say(theirs, id, "私も", at) == 404
        for verb in ("retry", "forget"):
            assert theirs.post(f"/conversations/{id}/{verb}").status_code == 404
        assert id not in theirs.get("/").text
        assert "&lt;b&gt;echo" in mine.get("/").text
        assert mine.post(f"/conversations/{id}/forget").status_code == 204
        assert mine.get(f"/echo/{id}").status_code == 404


def test_who_follows_is_told_as_it_happens(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=1)
        told: list[tuple[str, str, str]] = []
        opened = threading.Event()
        listener = threading.Thread(
            target=lambda: told.extend(events(client, id, opened=opened.set))
        )
        listener.start()
        assert opened.wait(PATIENCE)
        say(client, id, "今")
        listener.join(PATIENCE)
    assert any(name == "line" and "今!" in data for _, name, data in told)


def state(client: httpx2.Client, id: str, wanted: str) -> None:
    until(lambda: client.get(f"/echo/{id}").headers["x-state"] == wanted)


def test_a_log_that_another_program_holds_stops_one_conversation_alone(
    options: WebOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers there waits until it is kept; others are answered meanwhile."""
    refused = log_refused(monkeypatch)
    with (
        WebServer(options) as server,
        server.visitor() as one,
        server.visitor() as other,
        ThreadPoolExecutor() as pool,
    ):
        id, others = begin(one), begin(other)
        last = step(one, id)
        (log,) = options.state.glob(f"conversations/*/{id}/log.sqlite")
        held = sqlite3.connect(log, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        waiting = pool.submit(say, one, id, "やあ", last)
        assert refused.wait(PATIENCE)
        assert say(other, others, "はい") == 204
        assert heard(other, others, 1) == ["はい!"]
        assert step(one, begin(one)) and not waiting.done()
        held.execute("ROLLBACK")
        held.close()
        assert waiting.result(PATIENCE) == 204
        assert heard(one, id, 1) == ["やあ!"]


def test_what_failed_is_told_and_goes_on_where_it_failed(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        say(client, id, "一")
        heard(client, id, 1)
        assert say(client, id, "壊れる") == 204
        state(client, id, "failed")
        (visitor,) = (options.state / "conversations").iterdir()
        folder = options.state / "visitors" / visitor.name
        folder.mkdir(parents=True)  # nothing is kept beside the conversation as yet
        (folder / "mended").touch()
        assert client.post(f"/conversations/{id}/retry").status_code == 204
        assert heard(client, id, 2) == ["一!", "壊れる!"]
        say(client, id, "三")
        state(client, id, "done")
        told = events(client, id)
        assert [name for _, name, _ in told].count("line") == 3


def test_what_another_version_began_can_be_read_but_not_gone_on_with(
    options: WebOptions,
) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
        say(client, id, "一")
        heard(client, id, 1)
        at = step(client, id)
        cookies = client.cookies
    (path,) = (options.state / "conversations").glob(f"*/{id}/log.sqlite")
    change(path, "UPDATE events SET digest = 'other' WHERE kind = 'say'")
    with WebServer(options) as server, server.visitor(cookies) as client:
        state(client, id, "stale")
        assert client.get(f"/echo/{id}").text == "一!"
        assert say(client, id, "二", at) == 409
        assert events(client, id)[-1][1] == "end"


def test_what_nobody_looks_at_is_put_away_and_comes_back(options: WebOptions) -> None:
    options = options.model_copy(update={"open_conversations": 2})
    with WebServer(options) as server, server.visitor() as client:
        ids = [begin(client) for _ in range(5)]
        for id in ids:
            step(client, id)
        assert server.state is not None
        conversations = server.state.conversations
        until(lambda: len(conversations._open) <= 2)
        for n, id in enumerate(ids):
            assert say(client, id, f"言葉{n}") == 204
        assert [heard(client, id, 1) for id in ids] == [[f"言葉{n}!"] for n in range(5)]


def test_two_servers_do_not_share_a_folder(options: WebOptions) -> None:
    with WebServer(options), pytest.raises(InputError, match="pid"), WebServer(options):
        pass


def test_resuming_one_in_the_terminal_says_where_to_go(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client)
    (path,) = (options.state / "conversations").glob(f"*/{id}")
    with pytest.raises(InputError) as told:
        continue_run(path, RunOptions())
    assert f"/echo/{id}" in told.value.remedy


def test_a_full_disk_is_told_and_what_was_said_stays(tiny: Path) -> None:
    options = WebOptions(state=tiny / "state", runs=tiny / "runs")
    with WebServer(options) as server, server.visitor() as client:
        id = begin(client, times=3)
        assert say(client, id, "やあ") == 204
        assert heard(client, id, 1) == ["やあ!"]
        last = step(client, id)
        with (tiny / "fill").open("wb", buffering=0) as fill, pytest.raises(OSError):
            while True:
                fill.write(b"0" * 512)
        full = client.post(
            f"/conversations/{id}/answer", data={"step": last, "text": "はい" * 2000}
        )
        assert full.status_code == 503 and "保存できませんでした" in full.text
        assert client.post("/echo").status_code == 503
        assert client.get(f"/echo/{id}").text == "やあ!"
        state(client, id, "failed")
        (tiny / "fill").unlink()
        assert client.post(f"/conversations/{id}/retry").status_code == 204
        assert say(client, id, "また") == 204
        assert heard(client, id, 2)[1] == "また!"
