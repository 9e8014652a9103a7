"""The conversation with one agent: it asks, acts, answers, remembers if allowed, shows why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer
from waiting import until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    root = tmp_path_factory.mktemp("agent")
    with WebServer(WebOptions(state=root / "state", runs=root / "runs")) as server:
        yield server


def begun(client: Any, text: str, **fields: str) -> str:
    made = client.post("/agent/new", data={"text": text, **fields})
    assert made.status_code == 204, made.text
    return str(made.headers["hx-redirect"])


def shown(client: Any, address: str) -> str:
    """The page, once it is the person's turn."""
    until(lambda: 'name="step"' in client.get(address).text)
    return str(client.get(address).text)


def said(client: Any, address: str, text: str) -> str:
    (step,) = re.findall(r'name="step" value="([^"]+)" form="composer"', shown(client, address))
    data = {"step": step, "text": text}
    answered = client.post(f"/conversations/{address.rpartition('/')[2]}/answer", data=data)
    assert answered.status_code == 204, answered.text
    return shown(client, address)


def panel(page: str, id: str) -> str:
    return page.partition(f'<div id="{id}"')[2].partition("</section>")[0]


def test_it_asks_acts_and_shows_why(server: WebServer) -> None:
    with server.visitor(**{"accept-language": "ja"}) as client:
        assert 'action="/agent/new"' in client.get("/").text
        address = begun(client, "お腹が空いたな")
        asked = shown(client, address)
        assert "バナナ" in panel(asked, "chances") and "%" in panel(asked, "chances")
        options = re.findall(r'<button class="plain" name="text" value="([^"]+)"', asked)
        assert "バナナを持ってくる" in options and len(options) >= 2
        done = said(client, address, "バナナ")
        assert '<span class="moved">バナナ</span>' in panel(done, "house")
        assert "PASS" in panel(done, "checked")
        assert "<s>" not in panel(done, "checked")  # it was said: nothing is struck through
        # Each line opens its step in the flight recorder.
        steps = re.findall(r'href="(/runs/episode/[^"]+step=[^"]+)"', done)
        assert len(steps) >= 3
        assert client.get(steps[-1].replace("&amp;", "&")).status_code == 200


def test_a_help_desk_names_its_sources(server: WebServer) -> None:
    with server.visitor() as client:
        page = shown(client, begun(client, "国内出張の宿泊費の上限はいくらですか", persona="desk"))
        assert "domestic_travel" in panel(page, "sources") and "14,000" in page
        assert 'id="house"' not in page and 'id="chances"' not in page


def test_it_remembers_with_consent_alone_and_forgets(server: WebServer) -> None:
    with server.visitor() as client:
        shown(client, begun(client, "明日は京都へ行くよ", persona="sister"))
        assert "京都" not in client.get("/").text.partition("/documents/memory/forget")[2]
        shown(client, begun(client, "猫を飼っている", persona="sister", remember="1"))
        until(lambda: "猫を飼っている" in client.get("/").text)
        assert client.post("/documents/memory/forget", data={}).status_code == 204
        assert "猫を飼っている" not in client.get("/").text


def test_nobody_of_another_name_and_no_file(server: WebServer, tmp_path: Path) -> None:
    with server.visitor() as client:
        for name in ("nobody", str(tmp_path / "persona.toml")):
            told = client.post("/agent/new", data={"text": "やあ", "persona": name})
            assert told.status_code == 422
