"""The relationship page: lines of a person or a model, both vectors drawn, evidence kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2

from naisei.relationship.standing import standing
from naisei.runs.charts import Chart, Point
from naisei.system.execute import Endpoint
from naisei.web.options import WebOptions
from servers.filling import fill
from servers.openai_server import OpenAIServer
from servers.web_server import WebServer
from web.talks import page, say

LINES = (
    "おい、例の資料まだか。早く出せ。",
    "申し訳ございません。すぐにお持ちいたします。",
    "今日中に頼むぞ。",
    "承知いたしました。必ず仕上げます。",
)


def begin(client: httpx2.Client, **fields: str) -> httpx2.Response:
    given = {"pair": "engineers", "sessions": "1", "turns": "4", **fields}
    return client.post("/relationship/new", data=given)


def test_without_a_model_the_manner_of_speaking_is_drawn(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        address = begin(client).headers["HX-Redirect"]
        assert "<polyline" not in page(client, address)
        for line in LINES[:2]:
            say(client, address, line)
        page(client, address, LINES[1])

    with WebServer(options) as server, server.visitor(client.cookies) as back:
        for line in LINES[2:]:
            say(back, address, line)
        text = page(back, address, "この会話は終わりました")
        assert text.count('<li class="line') == 4 and text.count("<polyline") == 6
        # The one gives orders, the other obeys.
        power = re.findall(r"● [^<]+? ([+-]\d\.\d)<", text)[:2]
        assert float(power[0]) > float(power[1])


def test_a_model_reflects_and_its_evidence_is_there(options: WebOptions, tmp_path: Path) -> None:
    script = tmp_path / "model.jsonl"
    vector = {"Power": 2, "Intimacy": -1, "TaskOriented": 3}
    questions = {"Power": "どちらが上か？", "Intimacy": "<i>親しいか", "TaskOriented": "用件か？"}
    rules = [
        {"schema": "Questions", "reply": questions},
        {"schema": "VectorReply", "reply": vector},
        {"schema": "", "reply": "資料の件、<script>明日までに直します。"},
    ]
    script.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rules), "utf-8")
    model = WebOptions(state=options.state, runs=options.runs, model=f"scripted:{script}")
    with WebServer(model) as server, server.visitor() as client:
        address = begin(client, turns="2", played="b").headers["HX-Redirect"]
        say(client, address, "はい。")
        text = page(client, address, "この会話は終わりました")
        assert "&lt;script&gt;明日" in text and "&lt;i&gt;親しいか" in text
        assert "力関係 +2、親密度 -1、タスク指向 +3" in text
        assert text.count("<polyline") == 6


def test_what_cannot_be_begun_is_refused(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        assert begin(client, pair="/etc/passwd").status_code == 422
        assert begin(client, pair="own", profile="x = [").status_code == 422
        assert begin(client, turns="0").status_code == 422


CHAT = (
    "[LINE] 部長とのトーク履歴\n保存日時：2026/04/12 21:03\n\n2026/04/11(土)\n"
    "19:02\t部長\t資料は今日中に直しておいて。\n19:03\t森\t承知いたしました。\n19:03\t森\t[スタンプ]\n"
    "19:04\t部長\t遅い。早くしろ。\n19:05\t森\t申し訳ございません。<b>すぐに\n"
)


def test_how_two_people_stand_is_said_in_words_with_what_was_read(options: WebOptions) -> None:
    with WebServer(options) as server, server.visitor() as client:
        files = {"file": ("[LINE]部長.txt", CHAT.encode("cp932"), "text/plain")}
        shown = client.post("/relationship/file", files=files).text
        assert "部長 2 発話" in shown and "1 件を除外" in shown and "&lt;b&gt;すぐに" in shown
        assert shown.count("<polyline") == 6 and "部長は森に対し" in shown
        back = {"name": "[LINE]部長.txt", "text": CHAT, "a": "森", "b": "部長"}
        rated = client.post("/relationship/file", data=back).text
        assert rated.count("<polyline") == 6 and "森 → 部長" in rated
        assert not [path for path in options.state.rglob("*") if "部長" in path.name]
        kept = [path for path in options.state.rglob("*") if path.is_file()]
        assert not [
            path for path in kept if "資料は今日中" in path.read_bytes().decode("utf-8", "replace")
        ]


def test_several_speakers_are_chosen_and_what_is_no_talk_is_refused(options: WebOptions) -> None:
    three = "A: 行くよ。\nB: うん、行こう。\nC: 私も行きます。\nA: じゃあ駅でね。\nB: わかった。\n"
    with WebServer(options) as server, server.visitor() as client:
        shown = client.post("/relationship/file", data={"text": three}).text
        assert shown.count(">C</option>") == 2 and "<polyline" not in shown
        same = {"text": three, "name": "t.txt", "a": "A", "b": "A"}
        assert client.post("/relationship/file", data=same).status_code == 422
        for text in (
            "今日は雨でした。\n本を読みました。\n",
            "A: ひとりごと。\nA: まだ続く。\n",
            "",
        ):
            assert client.post("/relationship/file", data={"text": text}).status_code == 422
        long = "A: はい。\nB: ええ。\n" * 12_000
        assert client.post("/relationship/file", data={"text": long}).status_code == 413


def test_a_conversation_is_rated_by_the_servers_model_where_that_is_chosen(
    options: WebOptions,
) -> None:
    def reply(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        assert schema is not None
        vector = {"Power": 2, "Intimacy": -1, "TaskOriented": 3}
        return json.dumps(fill(schema) | vector, ensure_ascii=False)

    chosen = {"name": "t.txt", "text": CHAT, "a": "森", "b": "部長"}
    with OpenAIServer(reply) as model:
        named = {"model": "openai-compatible:test", "endpoint": Endpoint(base_url=model.url)}
        served = options.model_copy(update=named)
        with WebServer(served) as server, server.visitor() as client:
            by_speech = client.post("/relationship/file", data=chosen).text
            assert 'value="model"' in by_speech and not model.calls
            rated = client.post("/relationship/file", data={**chosen, "rater": "model"}).text
            assert rated.count("<polyline") == 6 and "上の立場から" in rated
            # The first line is of one who has spoken alone; then both directions.
            assert model.answered == 7
            long = {**chosen, "rater": "model", "text": "森: はい。\n部長: 早く。\n" * 40}
            assert client.post("/relationship/file", data=long).status_code == 422
            assert model.calls == 7
            other = {**chosen, "rater": "model", "model": "openai:other"}
            assert client.post("/relationship/file", data=other).status_code == 422
        kept = [path for path in options.state.rglob("*") if path.is_file()]
        assert not [path for path in kept if "資料は今日中".encode() in path.read_bytes()]
    with WebServer(options) as server, server.visitor() as client:
        without = client.post("/relationship/file", data={**chosen, "rater": "model"})
        assert without.status_code == 422


def test_an_english_conversation_gets_no_curves_but_the_reason(options: WebOptions) -> None:
    text = "Ann: Good morning.\nBob: Hello.\nAnn: Pass the salt, please.\nBob: Here you are."
    with WebServer(options) as server, server.visitor() as client:
        client.headers["accept-language"] = "en"
        assert "reads Japanese only" in client.get("/relationship").text
        shown = client.post("/relationship/file", data={"text": text}).text
        assert "only Japanese" in shown and "<figure" not in shown


def test_what_is_no_longer_read_has_its_last_value_and_only_drawn_lines_a_legend() -> None:
    course = [{"Power": 1, "Intimacy": 2}, {"Power": None, "Intimacy": 2}]
    told = "\n".join(row.text for row in standing("A", "B", course).under)
    assert told.count("(+1)") == 1
    chart = Chart("A → B", {"seen": [Point(1, 1.0), Point(2, 1.0)], "unseen": []}).svg()
    assert "seen" in chart and "unseen" not in chart
