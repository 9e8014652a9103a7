"""The documents page: asked back, answered with sources, one's own files, feedback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from naisei.core import InputError
from naisei.system.execute import Endpoint
from naisei.web.html import _markdown
from naisei.web.options import WebOptions
from servers.filling import fill
from servers.openai_server import OpenAIServer
from servers.web_server import WebServer
from web.talks import page, say

RULES = (
    "# 駐輪場の決まり\n\n"
    "駐輪場は平日の7時から22時まで使えます。<script>x()</script>鍵は総務部で借ります。\n"
)


def begin(client: httpx2.Client, shelf: str, **fields: str) -> httpx2.Response:
    return client.post("/documents/new", data={"shelf": shelf, **fields}, timeout=120)


def ask(client: httpx2.Client, address: str, text: str, *, said: int) -> str:
    say(client, address, text, lines=said - 1)
    return page(client, address, lines=said)


def test_one_asks_on_the_first_page_of_documents(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        form = client.get("/documents").text.partition('action="/documents/new"')[2]
        assert 'name="text"' in form.partition("</form>")[0]
        address = begin(client, "handbook", text="看護休暇の日数です").headers["HX-Redirect"]
        assert "看護休暇の日数です" in page(client, address, lines=1)


def test_a_vague_request_is_asked_back_and_then_answered_with_sources(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client, "handbook").headers["HX-Redirect"]
        text = ask(client, address, "休暇について教えてください", said=1)
        assert "聞き返し" in text and "問いがはっきりしている" in text
        options_offered = re.findall(r'name="text" value="([^"]+)"', text)
        assert len(options_offered) >= 2
        text = ask(client, address, "看護休暇の日数です", said=2)
        link = re.search(r'hx-get="([^"]+)"', text)
        assert "答え" in text and link is not None
        passage = client.get(link[1].replace("&amp;", "&"))
        assert passage.status_code == 200 and 'class="passage" tabindex' in passage.text
        told = client.post(f"{address}/feedback", data={"sign": "too-much"})
        assert "明確さ" in told.text and "評価 1 件" in told.text
        assert "評価 0 件" in client.post(f"{address}/feedback", data={"sign": "undo"}).text
        assert client.post(f"{address}/feedback", data={"sign": "hack"}).status_code == 422
        assert client.get(f"{address}/passage", params={"chunk": "../x"}).status_code == 404

        find = "/runs/search?find=看護休暇の日数です"
        assert f"/runs/episode/%40{address.rpartition('/')[2]}" in client.get(find).text
        with server.visitor() as other:
            assert "/runs/episode/" not in other.get(find).text
            assert other.get(address).status_code == 404
            assert other.get(link[1].replace("&amp;", "&")).status_code == 404

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        assert "看護休暇の日数です" in page(back, address, lines=2)


def test_ones_own_documents(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert begin(client, "own").status_code == 422
        given = {"file": ("../../駐輪場.md", RULES.encode(), "text/markdown")}
        assert client.post("/documents/files", files=given).status_code == 204
        bad = {"file": ("x.exe", b"MZ", "application/octet-stream")}
        refused = client.post("/documents/files", files=bad)
        assert refused.status_code == 422 and "x.exe" in refused.text
        assert "駐輪場.md" in client.get("/documents").text
        with server.visitor() as other:
            assert "駐輪場.md" not in other.get("/documents").text
        address = begin(client, "own").headers["HX-Redirect"]
        text = ask(client, address, "駐輪場は何時から使えますか", said=1)
        assert "7時から22時" in text and "<script>x()" not in text
        assert client.post("/documents/files/remove", data={"name": "../x"}).status_code == 404
        assert client.post("/documents/files/remove", data={"name": "駐輪場.md"}).status_code == 204
        assert "駐輪場.md" not in client.get("/documents").text


def test_a_model_behind_http_answers_with_its_sources(options: WebOptions, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "駐輪場.md").write_text(RULES, "utf-8")
    hours = "駐輪場は平日の7時から22時まで使えます。"

    def reply(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        assert schema is not None
        given: dict[str, Any] = {"sentences": [{"text": hours, "sources": [1]}], "answerable": True}
        if "clarity" in schema["properties"]:
            given = {"clarity": 1, "is_consultation": 5, "ask_person": 5, "in_internal_docs": 1}
        return json.dumps(fill(schema) | given, ensure_ascii=False)

    with OpenAIServer(reply) as model:
        served = options.model_copy(
            update={
                "documents": folder,
                "model": "openai-compatible:test",
                "endpoint": Endpoint(base_url=model.url),
            }
        )
        with WebServer(served) as server, server.visitor() as client:
            address = begin(client, "server").headers["HX-Redirect"]
            text = ask(client, address, "駐輪場は何時から使えますか", said=1)
    assert hours in text and "出典" in text and model.answered >= 2


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert begin(client, "server").status_code == 422  # it has no index
        assert begin(client, "/etc").status_code == 422


def test_a_folder_on_the_server_is_kept_up_to_date(options: WebOptions, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "駐輪場.md").write_text(RULES, "utf-8")
    served = WebOptions(state=options.state, runs=options.runs, documents=folder)
    with WebServer(served) as server, server.visitor() as client:
        address = begin(client, "server").headers["HX-Redirect"]
        assert "7時から22時" in ask(client, address, "駐輪場は何時から使えますか", said=1)
        (folder / "駐輪場.md").write_text(RULES.replace("7時", "6時"), "utf-8")
        address = begin(client, "server").headers["HX-Redirect"]
        assert "6時から22時" in ask(client, address, "駐輪場は何時から使えますか", said=1)
    with pytest.raises(InputError, match=r"フォルダ|folder"):
        WebOptions(documents=tmp_path / "none")
    with pytest.raises(InputError):
        WebOptions(documents=folder, index=tmp_path)


def test_an_answer_shows_lists_and_tables_and_nothing_that_acts() -> None:
    from naisei.web.html import _markdown

    shown = _markdown(
        "次のとおりです。[1]\n\n- 大人は**400円**\n- 子どもは無料\n\n"
        "| 区分 | 料金 |\n|--|--|\n| 大人 | 400円 |\n\n"
        "# 大声 <script>x()</script> ![x](https://leak.invalid) [y](javascript:z)"
    )
    assert "<li>大人は<strong>400円</strong></li>" in shown and "<td>400円</td>" in shown
    assert "[1]" in shown and not any(tag in shown for tag in ("<h1", "<script", "<img", "<a "))


def test_what_a_visitor_allows_to_be_remembered_is_shown_used_and_erased(
    options: WebOptions, tmp_path: Path
) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    text = "# プール\n\n## 使用料\n\n市内の方は300円、市外の方は600円です。\n\n"
    text += "## 休館日\n\n月曜日です。\n"
    (folder / "プール.md").write_text(text, "utf-8")
    served = WebOptions(state=options.state, runs=options.runs, documents=folder)
    fee = "プールの使用料はいくらですか"
    with WebServer(served) as server, server.visitor() as client:

        def talk(*said: str, **fields: str) -> str:
            address = begin(client, "server", **fields).headers["HX-Redirect"]
            return [ask(client, address, text, said=n) for n, text in enumerate(said, 1)][-1]

        assert "覚えていること" not in client.get("/documents").text
        assert "聞き返し" in talk(fee)  # nothing is kept without leave
        talk("プールの休館日はいつですか。市外に住んでいます。", remember="1")
        shown = client.get("/documents").text
        assert "覚えていること" in shown and "市外に住んでいます" in shown
        with server.visitor() as other:
            assert "市外に住んでいます" not in other.get("/documents").text
        assert "聞き返し" not in talk(fee, remember="1")
        assert "聞き返し" in talk(fee)  # not allowed this time
        note = re.search(r'name="note" value="([^"]+)"', shown)
        assert note is not None
        gone = client.post("/documents/memory/forget", data={"note": "x"})
        assert gone.status_code == 404
        assert client.post("/documents/memory/forget").status_code == 204
        assert "覚えていること" not in client.get("/documents").text
        assert "聞き返し" in talk(fee, remember="1")
    kept = [path for path in options.state.rglob("memory.jsonl") if "市外" in path.read_text()]
    assert not kept


def test_quoted_rows_are_tables_each_with_its_sources() -> None:
    leave, abroad = "| 事由 | 日数 |\n| 結婚 | 5日 |[1]", "| 地域 | 日当 |\n| 北米 | 6,500円 |[2]"
    text = f"次の表による。\n{leave}\n{abroad}\n（注）"
    shown = str(_markdown(text))
    assert shown.count("<table") == shown.count("</thead>") == 2 and "|" not in shown
    assert "<td>5日 [1]</td>" in shown and "<p>（注）</p>" in shown
