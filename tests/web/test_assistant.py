"""The assistant's page: a request, questions back, an action judged, the notes, a restart."""

from __future__ import annotations

import re

import httpx2
import pytest

from naisei.web.options import WebOptions
from servers.web_server import WebServer
from web.talks import answer, page


def begin(client: httpx2.Client, **fields: str) -> httpx2.Response:
    given = {"agent": "bayes", "scene": "own", **fields}
    return client.post("/assistant/new", data=given)


def settled(client: httpx2.Client, address: str) -> str:
    """Say something vague, answer whatever is asked, until an action is to be judged."""
    assert answer(client, address, text="ちょっと<b>暑いな") == 204
    for _ in range(4):
        text = page(client, address)
        if 'name="right"' in text:
            return text
        assert answer(client, address, text="涼しくしてほしい") == 204
    raise AssertionError("it asked more often than it may")


def test_a_request_from_words_to_an_action_that_is_judged(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert 'value="own"' in client.get("/assistant").text
        begun = begin(client, place="居間", around="扇風機、リモコン", manner="quick")
        assert begun.status_code == 204
        address = begun.headers["HX-Redirect"]
        text = settled(client, address)
        assert "ちょっと&lt;b&gt;暑いな" in text and "<b>暑いな" not in text
        assert text.count('class="value"') >= 3  # beliefs as bars
        assert answer(client, address, right="perhaps") == 422
        assert answer(client, address, right="no") == 204
        for _ in range(6):
            text = page(client, address)
            if 'name="right"' in text:
                assert answer(client, address, right="yes") == 204
                break
            assert answer(client, address, text="風がほしい") == 204
        text = page(client, address)
        assert "わかりました" in text and "いいえ、違います" in text
        assert "○" in text and "×" in text  # the notes on both actions

        # What was noted is there in the next conversation.
        again = begin(client).headers["HX-Redirect"]
        assert "○" in client.get(again).text

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        text = page(back, address)
        assert "わかりました" in text and text.count("いいえ、違います") == 1


@pytest.mark.parametrize(
    ("wish", "done"),
    [
        ("エアコンをつけたい", "リモコンを持ってくる"),
        ("冷たい飲み物がほしい", "ペットボトルを持ってくる"),
    ],
)
def test_a_typed_request_ends_with_what_was_wished(
    options: WebOptions, wish: str, done: str
) -> None:
    with WebServer(options) as server, server.visitor() as client:
        begun = begin(client, place="居間", around="扇風機、リモコン、ペットボトル")
        address = begun.headers["HX-Redirect"]
        assert answer(client, address, text="ちょっと暑いな") == 204
        for _ in range(3):
            if 'name="right"' in page(client, address):
                break
            assert answer(client, address, text=wish) == 204
        assert answer(client, address, right="yes") == 204
        assert set(re.findall(r"→ (?:<[^>]+>)*([^\s<]+)", page(client, address))) == {done}


def test_a_wish_that_no_action_serves_is_told_of_and_kept(options: WebOptions) -> None:
    wish = "円周率を百桁まで知りたい"
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client, place="居間").headers["HX-Redirect"]
        assert answer(client, address, text=wish) == 204
        for _ in range(4):
            if 'name="right"' in (text := page(client, address)):
                break
            assert answer(client, address, text=wish) == 204
        proposed = re.findall(r"→ (?:<[^>]+>)*([^\s<]+)", text)[-1]
        assert answer(client, address, text="べつに") == 422  # neither yes nor no
        assert answer(client, address, text="いいえ") == 204
        text = page(client, address)
        assert "見つかりませんでした" in text and "かなえられなかった望み" in text
        offered = re.findall(r'name="text" value="([^"]+)"', text)
        assert len(offered) == 3 and proposed not in offered
        assert text.count("<option>") == 40
        assert answer(client, address, text=offered[0]) == 204
        assert 'name="text" value' not in page(client, address)
        assert wish in client.get(begin(client).headers["HX-Redirect"]).text


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert begin(client, agent="llm").status_code == 422  # there is no model
        assert begin(client, agent="none").status_code == 422
        assert begin(client, scene="no-such").status_code == 422
        assert begin(client, place="あ" * 501).status_code == 413
