"""The games page: a player watched to the end, a game played by hand, a server killed between."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer
from waiting import until

pytest.importorskip("textworld", reason="the games engine is not installed")


@pytest.fixture
def options(tmp_path: Path) -> WebOptions:
    return WebOptions(state=tmp_path / "state", runs=tmp_path / "runs")


def begin(client: httpx2.Client, **fields: str) -> httpx2.Response:
    given = {"kind": "easy", "number": "0", "agent": "planner", "mode": "watch", **fields}
    return client.post("/games/new", data=given, timeout=120)


def page(client: httpx2.Client, address: str, *, acts: int, mark: str = 'name="step"') -> str:
    def shown() -> str:
        text = client.get(address).text
        return text if text.count('<li class="line"') >= acts and mark in text else ""

    return until(shown)


def answer(client: httpx2.Client, address: str, text: str, *, acts: int) -> int:
    step = re.search(r'name="step" value="([^"]+)"', page(client, address, acts=acts))
    assert step is not None
    given = {"step": step[1], "text": text}
    id = address.rpartition("/")[2]
    return client.post(f"/conversations/{id}/answer", data=given).status_code


@pytest.mark.slow
def test_a_game_watched_over_a_restart_then_played_by_hand(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client).headers["HX-Redirect"]
        assert answer(client, address, "/jump", acts=1) == 422
        assert answer(client, address, "/step", acts=1) == 204
        page(client, address, acts=2)

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        assert answer(back, address, "/rest", acts=2) == 204
        text = page(back, address, acts=3, mark="勝ちました")
        assert "data:image/svg+xml;base64," in text

        hand = begin(back, mode="play").headers["HX-Redirect"]
        text = page(back, hand, acts=1)
        commands = re.findall(r'name="text" value="([^"/][^"]*)"', text)
        assert "look" in commands
        assert answer(back, hand, "look", acts=1) == 204
        assert answer(back, hand, "<b>dance</b>", acts=2) == 204
        text = page(back, hand, acts=3)
        assert "<b>dance" not in text
        assert answer(back, hand, "/leave", acts=3) == 204
        page(back, hand, acts=3, mark="終わりました")


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert "planner" in client.get("/games").text
        assert begin(client, kind="../x").status_code == 422
        assert begin(client, number="10000").status_code == 422
        assert begin(client, agent="llm").status_code == 422
        assert begin(client, mode="cheat").status_code == 422
