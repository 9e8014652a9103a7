"""The assistant over HTTP: turns, streams, chat completions, sessions, and what is kept."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from intent.conftest import Serve
from naisei.core import LogBusy
from naisei.runs.sqlite_rows import SqliteRows
from servers.assistant_process import CLEAR, VAGUE
from servers.intent_server import IntentServer
from waiting import PATIENCE

ANSWERER = ("answerer",)


def test_a_vague_question_is_asked_back_and_its_answer_merged(serve: Serve) -> None:
    server = serve()
    first = server.post("/api/ask", {"message": VAGUE}).json()
    assert first["route"] == "ask" and len(first["options"]) >= 3
    document = str(first["options"].index("慶弔休暇") + 1)
    second = server.post("/api/ask", {"message": document, "session": first["session"]}).json()
    assert second["route"] == "ask" and "「慶弔休暇」" in second["message"]
    section = str(second["options"].index("結婚") + 1)
    third = server.post("/api/ask", {"message": section, "session": first["session"]}).json()
    assert third["route"] == "search" and third["query"] == f"{VAGUE} 慶弔休暇 結婚"
    assert third["citations"][0]["path"] == "special.md"
    assert third["citations"][0]["headings"][-1] == "結婚" and "[1]" in third["answer"]


def test_the_reply_has_the_names_of_the_contract_and_a_citation_leads_to_its_passage(
    serve: Serve,
) -> None:
    server = serve()
    reply = server.post("/api/ask", {"message": CLEAR}).json()
    names = {"case", "route", "message", "query", "answer", "citations", "evaluation"}
    assert names <= reply.keys()
    assert "12,000円" in reply["answer"] and reply["degraded"] is False
    passage = server.get(reply["citations"][0]["link"])
    assert passage.json()["path"] == "travel.md" and "12,000円" in passage.json()["text"]
    for missing in ("no%23such", "..%2F..%2Fetc%2Fpasswd"):
        assert server.get(f"/api/passage/{missing}").status_code == 404


def test_a_stream_tells_steps_pieces_and_the_whole(serve: Serve) -> None:
    server = serve()
    with (
        server.client() as client,
        client.stream("POST", "/api/ask/stream", json={"message": CLEAR}) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        events = _events("".join(response.iter_text()))
    names = [name for name, _ in events]
    assert names[0] == "session" and names[-2:] == ["reply", "done"]
    assert {"step", "delta"} <= set(names)
    reply = events[-2][1]
    assert "".join(d["text"] for n, d in events if n == "delta") == reply["message"]


def test_an_error_in_a_stream_is_an_event(serve: Serve) -> None:
    text = serve(max_message=5).post("/api/ask/stream", {"message": "長すぎる質問です"}).text
    name, data = _events(text)[-1]
    assert name == "error" and "5" in data["error"]["message"]


def test_chat_completions_read_the_dialogue_from_the_messages(serve: Serve) -> None:
    server = serve()
    messages: list[dict[str, Any]] = [{"role": "user", "content": VAGUE}]
    asked = _completion(server, messages)
    assert asked["naisei"]["route"] == "ask"
    at = asked["naisei"]["options"].index("慶弔休暇") + 1
    said = f"{at}。結婚したときは何日か知りたい"
    messages += [asked["choices"][0]["message"], {"role": "user", "content": said}]
    answered = _completion(server, messages)
    assert answered["naisei"]["query"].startswith(VAGUE)
    content = answered["choices"][0]["message"]["content"]
    assert "[1]" in content and "[1] special.md" in content
    assert answered["naisei"]["citations"][0]["path"] == "special.md"
    # An answer ends the request: what comes next is a new one.
    messages += [answered["choices"][0]["message"], {"role": "user", "content": CLEAR}]
    assert _completion(server, messages)["naisei"]["query"] == CLEAR


def test_a_question_that_this_server_never_sent_is_told_by_its_words(serve: Serve) -> None:
    messages = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": [{"type": "text", "text": VAGUE}]},
        {"role": "assistant", "content": "どの休暇のことですか？"},
        {"role": "user", "content": "結婚したときの休暇は何日か知りたい"},
    ]
    reply = _completion(serve(), messages)["naisei"]
    assert reply["dialogue"][0]["question"] == "どの休暇のことですか？"
    assert reply["query"] == f"{VAGUE} 結婚したときの休暇は何日か知りたい"


def test_chat_completions_stream_ends_with_citations_usage_and_done(serve: Serve) -> None:
    body = {
        "model": "naisei-intent",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": CLEAR}],
    }
    lines = serve().post("/v1/chat/completions", body).text.splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    chunks = [json.loads(d) for d in data[:-1]]
    assert len({c["id"] for c in chunks}) == 1
    assert chunks[-1]["usage"]["total_tokens"] == 0 and chunks[-1]["choices"] == []
    assert chunks[-2]["naisei"]["citations"] and chunks[-2]["choices"][0]["finish_reason"] == "stop"
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks[:-1])
    assert "12,000円" in text


def test_models_are_listed(serve: Serve) -> None:
    assert serve().get("/v1/models").json()["data"][0]["id"] == "naisei-intent"


def test_two_people_at_once_never_see_each_other(serve: Serve) -> None:
    server = serve()
    said = {"a": "結婚の休暇は何日ですか", "b": "会議室は何日先まで予約できますか"}
    seen: dict[str, list[str]] = {"a": [], "b": []}

    def talk(who: str) -> None:
        session = None
        for _ in range(4):
            given = {"message": said[who], **({"session": session} if session else {})}
            reply = server.post("/api/ask", given)
            seen[who].append(reply.text)
            session = reply.json()["session"]
        seen[who].append(server.get(f"/api/session/{session}").text)

    threads = [threading.Thread(target=talk, args=(who,)) for who in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "会議室" not in "".join(seen["a"]) and "結婚" not in "".join(seen["b"])
    ids = {json.loads(text)["session"] for texts in seen.values() for text in texts}
    assert len(ids) == 2 and all(len(i) >= 32 for i in ids)


def test_a_session_of_another_user_is_as_if_it_were_not(serve: Serve) -> None:
    tokens = {"hanako": "h" * 20, "taro": "t" * 20}
    server = serve(tokens=tokens)
    hanako = {"Authorization": f"Bearer {tokens['hanako']}"}
    taro = {"Authorization": f"Bearer {tokens['taro']}"}
    session = server.post("/api/ask", {"message": VAGUE}, **hanako).json()["session"]
    theirs = server.post("/api/ask", {"message": "2", "session": session}, **taro)
    unknown = server.post("/api/ask", {"message": "2", "session": "x" * 32}, **taro)
    assert theirs.status_code == unknown.status_code == 404
    assert theirs.json() == unknown.json()
    assert server.get(f"/api/session/{session}", **taro).status_code == 404
    given = {"session": session, "sign": "too-much"}
    assert server.post("/api/feedback", given, **taro).status_code == 404
    turns = server.get(f"/api/session/{session}", **hanako).json()["turns"]
    assert [t["said"] for t in turns] == [VAGUE]


def test_feedback_moves_ones_own_thresholds_and_can_be_undone(serve: Serve) -> None:
    server = serve()
    mine = server.post("/api/ask", {"message": VAGUE}).json()["session"]
    other = server.post("/api/ask", {"message": VAGUE}).json()["session"]

    def tell(session: str, sign: str) -> int:
        given = {"session": session, "sign": sign}
        return int(server.post("/api/feedback", given).json()["thresholds"]["clarity"])

    assert [tell(mine, "too-much") for _ in range(5)] == [2, 3, 4, 4, 4]
    assert tell(other, "good") == 1
    assert tell(mine, "undo") == 4 and tell(mine, "reset") == 1


def test_a_stalled_model_holds_up_nobody_else(serve: Serve, openai_server: Any) -> None:
    stalled = openai_server(holds=0)
    server = serve(roles=ANSWERER, model=stalled, timeout=PATIENCE)
    late: list[Any] = []
    thread = threading.Thread(
        target=lambda: late.append(server.post("/api/ask", {"message": CLEAR}))
    )
    thread.start()
    stalled.reached(1)
    assert server.get("/health").status_code == 200
    assert server.post("/api/ask", {"message": VAGUE}).json()["route"] == "ask"
    assert not late
    stalled.release()
    thread.join()
    assert late[0].status_code == 200


def test_a_model_that_never_answers_is_given_up(serve: Serve, openai_server: Any) -> None:
    server = serve(roles=ANSWERER, model=openai_server(holds=0), timeout=0.5)
    late = server.post("/api/ask", {"message": CLEAR})
    assert late.status_code == 504 and list(late.json()) == ["error"]


def test_too_much_at_once_is_told_to_wait(serve: Serve, openai_server: Any) -> None:
    model = openai_server(holds=0)
    server = serve(roles=ANSWERER, model=model, timeout=PATIENCE, in_flight=1)
    thread = threading.Thread(target=lambda: server.post("/api/ask", {"message": CLEAR}))
    thread.start()
    model.reached(1)
    assert server.post("/api/ask", {"message": CLEAR}).status_code == 503
    model.release()
    thread.join()


def test_a_dead_model_still_gets_an_answer(serve: Serve, openai_server: Any) -> None:
    dead = openai_server(reply=lambda messages, schema: "高い")
    server = serve(roles=("evaluator", "answerer"), model=dead)
    reply = server.post("/api/ask", {"message": CLEAR}).json()
    assert reply["degraded"] is True and "12,000円" in reply["answer"]
    assert "openai" not in json.dumps(reply)


def _completion(server: IntentServer, messages: Any) -> Any:
    body = {"model": "naisei-intent", "messages": messages}
    response = server.post("/v1/chat/completions", body)
    assert response.status_code == 200, response.text
    return response.json()


def _events(text: str) -> list[tuple[str, Any]]:
    out = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "event" in lines:
            out.append((lines["event"], json.loads(lines["data"])))
    return out


_RIGHT = "国内出張の宿泊費は一泊12,000円を上限とします。"
_WRONG = "海外出張の宿泊費は一泊90,000円です。"


def _drafted(*sentences: str) -> Any:
    told = [{"text": text, "sources": [1]} for text in sentences]
    data = {"sentences": told, "answerable": True}
    return lambda messages, schema: json.dumps(data, ensure_ascii=False)


@pytest.mark.parametrize("path", ["/api/ask/stream", "/v1/chat/completions"])
def test_a_sentence_is_sent_while_the_next_one_is_written_if_it_is_borne_out(
    serve: Serve, openai_server: Any, path: str
) -> None:
    model = openai_server(reply=_drafted(_RIGHT, _WRONG, "上限は12,000円です。"), pauses="海外出張")
    server = serve(roles=ANSWERER, model=model)
    body: dict[str, Any] = {"message": CLEAR}
    if path.startswith("/v1"):
        body = {"messages": [{"role": "user", "content": CLEAR}], "stream": True}
    said, early = "", False
    with server.client() as client, client.stream("POST", path, json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data:") and line != "data: [DONE]":
                data = json.loads(line.removeprefix("data:"))
                for choice in data.get("choices", ()):
                    said += choice["delta"].get("content", "")
                if "choices" not in data:
                    said += data.get("text", "")
                if _RIGHT in said and not early:
                    early = True
                    assert not model._released.is_set()
                    model.release()
    assert early and said.startswith(f"{_RIGHT}[1]上限は12,000円です。[1]")
    assert "90,000" not in said and model.calls == 1


def test_a_model_that_does_not_stream_is_heard_as_a_whole(serve: Serve, openai_server: Any) -> None:
    model = openai_server(reply=_drafted(_RIGHT), streams=False)
    server = serve(roles=ANSWERER, model=model)
    events = _events(server.post("/api/ask/stream", {"message": CLEAR}).text)
    said = "".join(data["text"] for name, data in events if name == "delta")
    assert said.startswith(f"{_RIGHT}[1]")


_CHAT = (
    "\n### Chat History:\n<chat_history>\nUSER: 育児休業の申請はいつまでですか\n"
    "ASSISTANT: 1か月前です。[1]\n</chat_history>"
)
_JSON = 'JSON format: { "%s": … }'


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat "
            "history.\n" + _JSON % "title" + _CHAT,
            {"title": "育児休業の申請はいつまでですか"},
        ),
        (
            "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n"
            + _JSON % "tags"
            + _CHAT,
            {"tags": ["育児", "休業", "申請"]},
        ),
        (
            "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might "
            "naturally ask next.\n" + _JSON % "follow_ups" + _CHAT,
            {"follow_ups": []},
        ),
        (
            "### Task:\nAnalyze the chat history to determine the necessity of generating search "
            "queries.\n" + _JSON % "queries" + _CHAT,
            {"queries": []},
        ),
    ],
)
def test_tasks_of_front_ends_are_answered_and_not_searched(
    serve: Serve, prompt: str, expected: dict[str, Any]
) -> None:
    told = _completion(serve(), [{"role": "user", "content": prompt}])
    content = told["choices"][0]["message"]["content"]
    assert json.loads(content) == expected and "naisei" not in told


def test_a_title_in_words_and_what_a_person_asks_about_titles(serve: Serve) -> None:
    server = serve()
    talk = [
        {"role": "user", "content": CLEAR},
        {"role": "assistant", "content": "12,000円です。[1]"},
    ]
    order = "Provide a concise, 5-word-or-less title for the conversation, in its language."
    told = _completion(server, [*talk, {"role": "user", "content": order}])
    assert told["choices"][0]["message"]["content"] == CLEAR
    for asked in (
        "会議室の予約のタイトルは変えられますか",
        "Write the title of my trip where?",
        CLEAR,
    ):
        assert "naisei" in _completion(server, [{"role": "user", "content": asked}])


def test_every_message_of_a_dialogue_has_its_limit(serve: Serve) -> None:
    server = serve()
    for role in ("system", "assistant", "user"):
        talk = [{"role": role, "content": "あ" * 30_000}, {"role": "user", "content": CLEAR}]
        assert server.post("/v1/chat/completions", {"messages": talk}).status_code == 413


def test_a_log_that_another_program_holds_stops_nobody_for_long(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write waits beside the loop, which answers others; when the log is free, it is kept."""
    server = serve()
    first = server.post("/api/ask", {"message": VAGUE}).json()
    (log,) = (tmp_path / "state").glob("*.sqlite")
    refused, begun = threading.Event(), SqliteRows._begin

    def watched(self: SqliteRows) -> None:
        try:
            begun(self)
        except LogBusy:
            refused.set()
            raise

    monkeypatch.setattr(SqliteRows, "_begin", watched)
    replies: list[Any] = []
    held = sqlite3.connect(log, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    asked = {"message": CLEAR, "session": first["session"]}
    asking = threading.Thread(target=lambda: replies.append(server.post("/api/ask", asked)))
    asking.start()
    assert refused.wait(PATIENCE)
    assert server.get("/health").status_code == 200 and not replies
    held.execute("ROLLBACK")
    held.close()
    asking.join(PATIENCE)
    assert "12,000円" in replies[0].json()["answer"]
