"""What is remembered of a person who allows it, and that it is theirs to see and to erase."""

import json
from pathlib import Path

import pytest

from intent.corpus import KINDS, write_index
from naisei.intent.config import AssistConfig
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.people import AuditOptions, audit_command
from servers.intent_server import IntentServer

POOL = "プールの使用料はいくらですか"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("kinds"), KINDS, embedder=None)


@pytest.fixture
def ask(index, naisei, tmp_path):
    """`ask(TEXT, ...)` → the reply; `ask.memory(...)` → what `naisei intent memory` shows."""
    own = {"NAISEI_DATA": str(tmp_path / "data"), "NAISEI_LANG": "ja"}

    def go(text, *more):
        return naisei("intent", "ask", text, "--json", "--index", index, *more, **own).result

    go.memory = lambda *more: naisei("intent", "memory", *more, **own)
    go.kept = lambda: "".join(
        path.read_text(errors="replace") for path in Path(tmp_path).rglob("*") if path.is_file()
    )
    return go


def test_what_somebody_said_fills_a_condition_in_the_next_conversation(ask):
    ask("市外に住んでいます。プールの休館日はいつですか", "--remember", "hanako")
    (fact, question) = json.loads(ask.memory("list", "--user", "hanako", "--json").out)["notes"]
    assert (fact["kind"], fact["text"]) == ("fact", "市外に住んでいます") and fact["date"]
    assert question["kind"] == "utterance"
    reply = ask(POOL, "--remember", "hanako")
    assert (
        reply["route"] == "search" and "600円" in reply["answer"] and "300円" not in reply["answer"]
    )
    assert "「市外に住んでいます」とうかがっている" in reply["message"]
    # Nobody else is told, nor the same person without leave.
    assert ask(POOL, "--remember", "taro")["route"] == "ask" and ask(POOL)["route"] == "ask"


def test_the_answer_to_what_was_asked_is_remembered(ask):
    told = ("--remember", "hanako", "--session", "one")
    first = ask("年次有給休暇は何日ですか", *told)
    assert first["options"] == ["常勤職員", "非常勤職員"]
    assert "年10日" in ask("2", *told)["answer"]
    later = ask("年次有給休暇は何日ですか", "--remember", "hanako", "--session", "two")
    assert later["route"] == "search" and "非常勤職員" in later["query"]


def test_what_was_asked_before_is_found_again(ask):
    for text in ("プールの休館日はいつですか", "図書館は何時まで開いていますか"):
        ask(text, "--remember", "hanako")
    reply = ask("前に聞いたプールの件をもう一度教えてください", "--remember", "hanako")
    assert "プールの休館日はいつですか" in reply["query"] and "月曜日" in reply["answer"]
    assert "図書館" in ask("この前の質問の答えは何でしたか", "--remember", "hanako")["query"]


def test_a_model_is_told_what_was_said_before(ask, openai_server):
    names = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")
    grades = dict(zip(names, (1, 1, 5, 1, 5), strict=True))
    server = openai_server(lambda messages, schema: json.dumps(grades))
    ask("市外に住んでいます。プールの休館日はいつですか", "--remember", "hanako")
    model = ("--evaluator-model", f"openai-compatible:t@{server.url}")
    ask("前に聞いたプールの件、使用料はいくらですか", "--remember", "hanako", *model)
    sent = server.requests[-1]["messages"][-1]["content"]
    assert "以前の発言: 市外に住んでいます (20" in sent and "プールの休館日はいつですか" in sent
    assert "市内の方 / 市外の方" not in sent  # it is known
    ask(POOL, "--remember", "taro", *model)
    sent = server.requests[-1]["messages"][-1]["content"]
    assert "市外に住んで" not in sent and "市内の方 / 市外の方" in sent


def test_one_note_or_all_are_erased_for_good(ask):
    ask("市外に住んでいます。プールの休館日はいつですか", "--remember", "hanako")
    ask("会員なので聞きますが、図書館は何時まで開いていますか", "--remember", "hanako")
    notes = json.loads(ask.memory("--user", "hanako", "--json").out)["notes"]
    mark = next(note["id"] for note in notes if note["text"] == "市外に住んでいます")
    assert "何時まで" in ask.kept() and mark in ask.memory("--user", "hanako").out
    done = ask.memory("forget", "--user", "hanako", "--note", mark)
    assert done.code == 0 and "会員" in done.out and "市外に住んでいます" not in done.out
    assert ask.memory("forget", "--user", "hanako", "--note", mark).code == 2
    assert ask.memory("forget", "--user", "hanako").code == 2
    assert ask.memory("forget", "--user", "hanako", "--all").code == 0
    assert not any(words in ask.kept() for words in ("市外", "会員", "何時まで"))


def test_without_leave_and_of_what_cannot_wait_nothing_is_kept(ask):
    ask("市外に住んでいます。プールの休館日はいつですか")
    ask("市外に住んでいます。もう死にたいです", "--remember", "hanako")
    assert "市外" not in ask.kept()
    assert "何も覚えていません" in ask.memory("--user", "hanako").out


def test_a_user_of_a_server_allows_sees_and_erases_their_own(index, tmp_path, monkeypatch):
    monkeypatch.setenv("NAISEI_LANG", "ja")
    tokens = {"hanako": "h" * 16, "taro": "t" * 16}
    state = tmp_path / "state"
    options = ServeOptions(state=state, tokens=tokens)

    with IntentServer(options, AssistConfig(index=str(index))) as server:
        hers, his = (server.client(authorization=f"Bearer {token}") for token in tokens.values())
        with hers, his:

            def ask(client, text):
                return client.post("/api/ask", json={"message": text}).json()

            ask(hers, "市外に住んでいます。プールの休館日はいつですか")
            assert hers.get("/api/memory").json() == {"remembers": False, "notes": []}
            assert ask(hers, POOL)["route"] == "ask"
            assert hers.post("/api/memory").json()["remembers"] is True
            ask(hers, "市外に住んでいます。プールの休館日はいつですか")
            fact = hers.get("/api/memory").json()["notes"][0]
            assert fact["text"] == "市外に住んでいます"
            assert "600円" in ask(hers, POOL)["answer"]
            chat = {"messages": [{"role": "user", "content": POOL}]}
            said = hers.post("/v1/chat/completions", json=chat).json()
            assert "600円" in said["choices"][0]["message"]["content"]
            assert his.get("/api/memory").json()["notes"] == []
            assert his.delete(f"/api/memory/{fact['id']}").status_code == 404
            assert ask(his, POOL)["route"] == "ask"
            left = hers.delete(f"/api/memory/{fact['id']}").json()["notes"]
            assert all(note["text"] != fact["text"] for note in left) and left
            assert ask(hers, POOL)["route"] == "ask"
            assert hers.delete("/api/memory").json() == {"remembers": False, "notes": []}
            assert not list((state / "memory").iterdir())
            hers.post("/api/memory")
            ask(hers, "プールの休館日はいつですか")
    assert list((state / "memory").iterdir())
    audit_command(AuditOptions(action="forget", state=state, user="hanako"))
    assert not list((state / "memory").iterdir())


def test_who_has_no_name_is_not_remembered(index, tmp_path):
    with (
        IntentServer(ServeOptions(state=tmp_path), AssistConfig(index=str(index))) as server,
        server.client() as client,
    ):
        assert client.post("/api/memory").status_code == 403
