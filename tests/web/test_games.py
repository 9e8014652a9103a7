"""The games page: a player watched to the end, a game played by hand, a server killed between."""

from __future__ import annotations

import re

import httpx2
import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer
from web.talks import answer, page

pytest.importorskip("textworld", reason="the games engine is not installed")


def begin(client: httpx2.Client, **fields: str) -> httpx2.Response:
    given = {"kind": "easy", "number": "0", "agent": "planner", "mode": "watch", **fields}
    return client.post("/games/new", data=given, timeout=120)


@pytest.mark.slow
def test_a_game_watched_over_a_restart_then_played_by_hand(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client).headers["HX-Redirect"]
        assert answer(client, address, "/jump", lines=1) == 422
        assert answer(client, address, "/step", lines=1) == 204
        page(client, address, lines=2)

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        assert answer(back, address, "/rest", lines=2) == 204
        text = page(back, address, "勝ちました", lines=3)
        assert "data:image/svg+xml;base64," in text

        hand = begin(back, mode="play").headers["HX-Redirect"]
        text = page(back, hand, lines=1)
        commands = re.findall(r'name="text" value="([^"/][^"]*)"', text)
        assert "look" in commands
        assert answer(back, hand, "look", lines=1) == 204
        assert answer(back, hand, "<b>dance</b>", lines=2) == 204
        text = page(back, hand, lines=3)
        assert "<b>dance" not in text
        assert answer(back, hand, "/leave", lines=3) == 204
        page(back, hand, "終わりました", lines=3)


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert "planner" in client.get("/games").text
        assert begin(client, kind="../x").status_code == 422
        assert begin(client, number="10000").status_code == 422
        assert begin(client, agent="llm").status_code == 422
        assert begin(client, mode="cheat").status_code == 422
