"""The duo page: lines that a person writes, lines of a model, drafts that were rejected."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import httpx2
import pytest

from naisei.core import InputError
from naisei.web.options import WebOptions
from servers.web_server import WebServer
from web.talks import page, say

GOOD = (
    "おはよー！今日の朝ごはん、パンにしよっか。",
    "いいですね。食パンが二枚、ちょうど残っています。",
)
BAD = "別居してるから知らない。"


def begin(client: httpx2.Client, **fields: str) -> httpx2.Response:
    given = {"first": "yana", "second": "ayu", "topic": "朝ごはん", "turns": "2", **fields}
    return client.post("/duo/new", data=given)


def test_without_a_model_the_person_writes_and_the_rules_judge(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client).headers["HX-Redirect"]
        (failing,) = re.findall(r'[^>]+</span> <button[^>]*value="([^"]+)"', page(client, address))
        say(client, address, unescape(failing))
        assert failing in page(client, address, "通りませんでした")
        say(client, address, BAD)
        assert "通りませんでした" in page(client, address, "通りませんでした")
        say(client, address, GOOD[0])
        text = page(client, address, "パンにしよっか")
        assert "通らなかった下書き 2つ" in text and BAD in text
        say(client, address, GOOD[1])
        text = page(client, address, "この会話は終わりました")
        assert text.count('<li class="line') == 2

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        assert page(back, address, "この会話は終わりました").count('<li class="line') == 2


def test_a_model_writes_and_what_it_writes_is_escaped(options: WebOptions, tmp_path: Path) -> None:
    script = tmp_path / "model.jsonl"
    rules = [{"contains": "通りません", "reply": GOOD[1]}, {"reply": f"<img src=x>{BAD}"}]
    script.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rules), "utf-8")
    model = WebOptions(state=options.state, runs=options.runs, model=f"scripted:{script}")
    with WebServer(model) as server, server.visitor() as client:
        address = begin(client).headers["HX-Redirect"]
        text = page(client, address, "この会話は終わりました")
        assert "<img" not in text and "&lt;img" in text
        assert "通らなかった下書き" in text


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert begin(client, second="yana").status_code == 422
        assert begin(client, second="/etc/passwd").status_code == 422
        assert begin(client, second="own", profile="x = [").status_code == 422
        assert begin(client, turns="0").status_code == 422
        assert begin(client, topic="あ" * 501).status_code == 413
        assert client.get("/duo/000000000000000000000000").status_code == 404


def test_a_visitor_chooses_among_the_models_that_are_offered(
    options: WebOptions, tmp_path: Path
) -> None:
    script = tmp_path / "model.jsonl"
    script.write_text(json.dumps({"reply": GOOD[1]}, ensure_ascii=False) + "\n", "utf-8")
    first, second = f"scripted:{tmp_path}/none.jsonl", f"scripted:{script}"
    both = options.model_copy(update={"model": first, "offer": (second,)})
    with WebServer(both) as server, server.visitor() as client:
        assert f'<option value="{second}">' in client.get("/duo").text
        assert begin(client, model="openai:gpt-0").status_code == 422
        address = begin(client, model=second, first="ayu", second="yana", turns="1").headers
        assert GOOD[1] in page(client, address["HX-Redirect"], "この会話は終わりました")


def test_models_are_offered_beside_a_default() -> None:
    with pytest.raises(InputError, match="default"):
        WebOptions(offer=("scripted:x",))
