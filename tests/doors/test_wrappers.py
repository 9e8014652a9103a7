"""The three wrappers round functions that know nothing of naisei, against a model on loopback."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.doors import (
    Acted,
    Choice,
    Declined,
    Question,
    Request,
    ask_before_act,
    check_before_say,
    reflect_after_failure,
)
from naisei.japanese.consent import consent
from naisei.japanese.morph import is_japanese
from naisei.lang import Language
from naisei.runs.log import RunLog
from servers.openai_server import OpenAIServer
from waiting import PATIENCE, log_refused

BOOK, CANCEL = "会議室を予約する", "予約を取り消す"


def decides(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Asks once, then does what the answer says."""
    said = [m["content"] for m in messages if m["role"] == "user"]
    if schema is None:
        return f"・{len(said)}: 日付を確かめる"
    asks = "取り消" not in said[-1] and len(said) == 1
    choice = "clarify" if asks else "execute"
    question = "新しい予約ですか、取り消しですか？" if asks else ""
    action = 2 if "取り消" in said[-1] else 1
    return json.dumps(
        {"thought": "t", "choice": choice, "question": question, "action": action},
        ensure_ascii=False,
    )


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply=decides) as server:
        yield server


def model(server: OpenAIServer) -> str:
    return f"openai-compatible:test@{server.url}"


def test_a_call_asks_and_then_acts(server: OpenAIServer) -> None:
    heard: list[str] = []

    def ask(question: str) -> str:
        heard.append(question)
        return "取り消しです"

    def cancel(request: Request) -> str:
        return f"{request.text}→{request.asked[0][1]}"

    desk = ask_before_act(
        {BOOK: lambda request: "booked", CANCEL: cancel},
        model=model(server),
        ask=ask,
        language="ja",
    )
    assert desk("いつもの会議の件") == "いつもの会議の件→取り消しです"
    assert heard == ["新しい予約ですか、取り消しですか？"]
    options = (BOOK, CANCEL, "この中にはない")
    asked = Question("新しい予約ですか、取り消しですか？", BOOK, options=options)
    assert desk.decide("会議の件") == asked
    assert desk.decide("会議の件", [("どちら？", "取り消し")]) == Choice(CANCEL, "t")


def test_an_action_may_stream(server: OpenAIServer) -> None:
    def parts(request: Request) -> Iterator[str]:
        yield from ("取り", "消し")

    desk = ask_before_act(
        {BOOK: parts, CANCEL: parts}, model=model(server), ask=lambda q: "取り消し", language="ja"
    )
    assert list(desk("予約の件")) == ["取り", "消し"]


@pytest.mark.parametrize("kept", ["", "file", "database"])
def test_a_conversation_goes_on_and_counts_an_answer_once(
    server: OpenAIServer, tmp_path: Path, kept: str, request: pytest.FixtureRequest
) -> None:
    done: list[str] = []
    state: str | Path | None = tmp_path / "desk.sqlite" if kept else None
    if kept == "database":
        state = request.getfixturevalue("postgres").database() + "#desk"

    def act(request: Request) -> str:
        done.append(request.asked[0][1] if request.asked else request.text)
        return "済み"

    def opened() -> Any:
        return ask_before_act(
            {BOOK: act, CANCEL: act}, model=model(server), state=state, language="ja"
        )

    desk = opened()
    asked = desk.tell("t1", "会議の件")
    assert isinstance(asked, Question) and asked.step
    if kept:
        desk = opened()  # another process, as far as state goes
    calls = server.calls
    assert desk.tell("t1", "取り消しで", step=asked.step) == Acted(CANCEL, "済み")
    assert server.calls == calls + 1, "what was decided is not asked again"
    again = desk.tell("t1", "取り消しで", step=asked.step)
    assert again == Acted(CANCEL, "済み", again=True)
    assert done == ["取り消しで"]
    with pytest.raises(InputError):
        desk.tell("t1", "予約で", step=asked.step)
    second = desk.tell("t1", "次の会議の件")
    assert isinstance(second, Question) and second.step != asked.step
    assert desk.tell("t1", "取り消しで", step=asked.step) == Acted(CANCEL, "済み", again=True)
    with pytest.raises(InputError):
        desk.tell("t1", "予約で", step=asked.step)
    assert done == ["取り消しで"]
    assert isinstance(asyncio.run(desk.atell("t2", "取り消して")), Acted)


def test_a_failing_action_is_done_again_without_another_question(server: OpenAIServer) -> None:
    tries: list[str] = []

    def act(request: Request) -> str:
        tries.append(request.text)
        if len(tries) == 1:
            raise OSError("busy")
        return "ok"

    desk = ask_before_act({BOOK: act, CANCEL: act}, model=model(server), language="ja")
    with pytest.raises(OSError, match="busy"):
        desk.tell("t", "取り消して")
    calls = server.calls
    assert desk.tell("t", "取り消して") == Acted(CANCEL, "ok")
    assert server.calls == calls


def test_a_dangerous_action_is_confirmed_and_so_are_the_same_words(server: OpenAIServer) -> None:
    desk = ask_before_act(
        {BOOK: lambda r: r.id, CANCEL: lambda r: r.id},
        model=model(server),
        dangerous=[CANCEL],
        language="ja",
    )
    sure = desk.tell("t", "予約を取り消して")
    assert isinstance(sure, Question) and CANCEL in sure.text and sure.options == ("はい", "いいえ")
    assert "予約を取り消して" in sure.text, "the request is quoted"
    assert isinstance(desk.tell("t", "はい", step=sure.step), Acted)
    assert isinstance(desk.tell("u", BOOK, step=""), Acted), "nothing is open, and it is named"
    done = desk.tell("v", "会議の件", message="1")
    assert isinstance(done, Question)
    acted = desk.tell("v", BOOK, message="2")
    assert isinstance(acted, Acted) and acted.action == BOOK, "an option is taken at its word"
    assert desk.tell("v", BOOK, message="2") == Acted(BOOK, acted.result, again=True)
    again = desk.tell("v", "会議の件")
    assert isinstance(again, Question)
    once_more = desk.tell("v", BOOK, step=again.step)
    assert isinstance(once_more, Question) and once_more.text != again.text, "it was done before"
    with pytest.raises(InputError, match="nothing"):
        ask_before_act({BOOK: str, CANCEL: str}, model=model(server), dangerous=["nothing"])


def test_answers_of_a_blind_author_act_only_where_they_agree() -> None:
    """(label, action, answer); six yeses in other words are asked about once more."""
    path = Path(__file__).parent / "blind_confirmations.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    acting = [label for label, action, said in rows if consent(said, action)]
    assert acting.count("yes") >= 34 and {*acting} == {"yes"}
    assert not [
        said for label, action, said in rows if label == "yes" and consent(said, action) is False
    ]


@pytest.mark.parametrize("kind", ["yes", "again", "no"])
def test_nothing_but_a_bare_yes_is_consent(kind: str) -> None:
    """Anything else is asked about once more, plainly, and then declined."""
    table = json.loads((Path(__file__).parent / "confirmations.json").read_text(encoding="utf-8"))
    names: dict[Language, tuple[str, str]] = {
        "ja": ("注文を調べる", "注文を返金する"),
        "en": ("Look up an order", "Refund an order"),
    }
    for said in table[kind]:
        language: Language = "ja" if is_japanese(said) else "en"
        look, refund = names[language]
        desk = ask_before_act(
            {look: str, refund: lambda r: "refunded"},
            model=_function,
            dangerous=[refund],
            language=language,
        )
        asked = desk.tell("t", "3")
        assert isinstance(asked, Question)
        found = desk.tell("t", said, step=asked.step)
        if kind == "again":
            assert isinstance(found, Question) and found.options == asked.options, said
            assert found.text != asked.text
            found = desk.tell("t", said, step=found.step)
            assert found == Declined("not confirmed"), said
        elif kind == "no":
            assert found == Declined("not confirmed"), said
        else:
            assert found == Acted(refund, "refunded"), said


async def _function(messages: list[dict[str, str]]) -> str:
    return json.dumps({"thought": "", "choice": "execute", "question": "", "action": 2})


def test_any_model_decides() -> None:
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    said = asyncio.run(_function([]))
    models: list[Any] = [_function, lambda messages: said]
    models += [FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(said)]))]
    for given in models:
        desk = ask_before_act({BOOK: lambda r: 1, CANCEL: lambda r: 2}, model=given)
        assert desk.tell("t", "x") == Acted(CANCEL, 2)
        assert asyncio.run(desk.atell("u", "x")) == Acted(CANCEL, 2)
    with pytest.raises(InputError, match="int"):
        ask_before_act({BOOK: str, CANCEL: str}, model=3)


def test_a_fault_of_the_reflector_hides_no_exception() -> None:
    @reflect_after_failure(model="nosuch:model")
    def never(memo: str = "") -> str:
        raise Odd("mine")

    with pytest.raises(Odd, match="mine"):
        never()


def test_what_cannot_be_used_is_told(server: OpenAIServer) -> None:
    with pytest.raises(InputError):
        ask_before_act({BOOK: str}, model=_function)
    desk = ask_before_act({BOOK: str, CANCEL: str}, model=model(server))
    with pytest.raises(InputError, match="no function to ask"):
        desk("x")
    with pytest.raises(InputError):
        desk.tell("t", "  ")


def test_lines_are_checked_and_remembered_across_processes(tmp_path: Path) -> None:
    state, drafts = tmp_path / "lines.sqlite", ["一人暮らしだよ。", "明日は晴れるでしょう。"]

    def gated(thread: str) -> Any:
        @check_before_say("ayu", thread=thread, state=state)
        def reply(prompt: str, reasons: tuple[str, ...] = ()) -> str:
            return drafts[1] if reasons else drafts[0]

        return reply

    assert gated("a")("元気？") == drafts[1]
    seen: list[Any] = []

    @check_before_say("ayu", thread="a", state=state, on_turn=seen.append, hold="sentence")
    async def stream(prompt: str) -> AsyncIterator[str]:
        for part in ("洗濯は", "午前が", "おすすめです。"):
            yield part

    async def go() -> str:
        return "".join([part async for part in stream("洗濯は？")])

    assert asyncio.run(go()) == "洗濯は午前がおすすめです。"
    again = check_before_say("ayu", thread="a", state=state)
    assert again.notes.texts("lines:a") == [drafts[1], "洗濯は午前がおすすめです。"]


class Odd(Exception):
    pass


def test_a_memo_is_written_and_used_from_then_on(server: OpenAIServer, tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def made() -> Any:
        @reflect_after_failure(
            model=model(server), state=tmp_path / "m.sqlite", per="who", language="ja"
        )
        def book(what: str, who: str, memo: str = "") -> str:
            seen.append((who, memo))
            if "日付" not in memo:
                raise Odd("日付がない")
            return "ok"

        return book

    assert made()("会議室", "田中") == "ok"
    assert seen == [("田中", ""), ("田中", "・1: 日付を確かめる")]
    told = server.requests[0]["messages"][-1]["content"]
    assert "会議室" in told and "Odd: 日付がない" in told
    assert made()("会議室", who="田中") == "ok"
    assert len(seen) == 3, "the memo was there already"
    made()("会議室", "佐藤")
    assert seen[3] == ("佐藤", "")


def test_the_last_failure_passes_through_and_streams_are_kept_back(server: OpenAIServer) -> None:
    @reflect_after_failure(model=model(server), failed=lambda out: "短い" if len(out) < 3 else "")
    def stream(memo: str = "") -> Iterator[str]:
        yield from ("あ", "い", "う") if memo else ("あ",)

    assert list(stream()) == ["あ", "い", "う"]

    @reflect_after_failure(model=model(server), trials=1)
    async def never(memo: str = "") -> str:
        raise Odd("no")

    with pytest.raises(Odd):
        asyncio.run(never())

    @reflect_after_failure(model="openai-compatible:x@http://127.0.0.1:9/v1", trials=1)
    def alone(memo: str = "") -> str:
        raise Odd("no")

    with pytest.raises(Odd), pytest.MonkeyPatch.context() as patch:
        patch.setattr("naisei.doors.speaking.reflect", _unreachable)
        alone()
    with pytest.raises(InputError, match="memo"):
        reflect_after_failure(model=model(server))(len)


def _unreachable(*args: Any) -> Any:
    from naisei.core import InstrumentFailure

    raise InstrumentFailure("unreachable")
    yield


def _talks(server: OpenAIServer, state: Path) -> Callable[[], Coroutine[Any, Any, Any]]:
    desk = ask_before_act(
        {BOOK: lambda r: "済み", CANCEL: lambda r: "済み"},
        model=model(server),
        state=state,
        language="ja",
    )
    return lambda: desk.atell("t", "取り消して")


def _says(server: OpenAIServer, state: Path) -> Callable[[], Coroutine[Any, Any, Any]]:
    @check_before_say("ayu", state=state)
    async def reply() -> str:
        return "明日は晴れるでしょう。"

    return reply


def _reflects(server: OpenAIServer, state: Path) -> Callable[[], Coroutine[Any, Any, Any]]:
    @reflect_after_failure(model=model(server), state=state, language="ja")
    async def book(memo: str = "") -> str:
        if not memo:
            raise Odd("日付がない")
        return "ok"

    return book


@pytest.mark.parametrize("made", [_talks, _says, _reflects])
def test_a_log_that_another_program_holds_keeps_the_loop_free(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any
) -> None:
    """Whoever needs it waits; what else the loop has to do is done meanwhile; nothing is lost."""
    state, refused = tmp_path / "s.sqlite", log_refused(monkeypatch)
    RunLog(state).close()
    held = sqlite3.connect(state, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")

    async def go() -> Any:
        waiting = asyncio.create_task(made(server, state)())
        await asyncio.to_thread(refused.wait, PATIENCE)
        assert not waiting.done()
        held.execute("ROLLBACK")
        return await asyncio.wait_for(waiting, PATIENCE)

    assert asyncio.run(go()) in ("ok", "明日は晴れるでしょう。", Acted(CANCEL, "済み"))
    held.close()
    log = RunLog(state, read_only=True)
    assert log.select("SELECT count(*) FROM meta WHERE key LIKE '%:%'") != [(0,)]
    log.close()


#: Texts of a thread → what is done, without a model.
WITHOUT_A_MODEL: dict[Language, dict[tuple[str, ...], str]] = {
    "ja": {
        ("会議室を予約しておいて",): BOOK,
        ("予約を取り消してほしい", "はい"): CANCEL,
        ("会議室を押さえといて", "うん、そう"): BOOK,
        ("会議室を押さえといて", "わかりません"): "",
        ("予約を取り消して", "明日の分だけにして", "やっぱりやめて"): "",
        ("ありがとう",): "",
        ("予約は何日前からですか？",): "",
        ("ひとりごとです",): "",
        ("どれでもないです",): "",
    },
    "en": {
        ("Book the meeting room for ten",): "Book a meeting room",
        ("please cancel the booking", "only the first one", "no"): "",
        ("please cancel the booking", "yes"): "Cancel a booking",
        ("I cancelled the booking yesterday",): "",
        ("do not cancel the booking",): "",
        ("thanks",): "",
    },
}


@pytest.mark.parametrize(
    ("language", "texts", "wanted"),
    [(lang, texts, act) for lang, of in WITHOUT_A_MODEL.items() for texts, act in of.items()],
)
def test_without_a_model_it_acts_on_requests_and_confirms(
    language: Language, texts: tuple[str, ...], wanted: str
) -> None:
    names = (BOOK, CANCEL) if language == "ja" else ("Book a meeting room", "Cancel a booking")
    heard: list[Request] = []
    actions = {name: lambda request: heard.append(request) for name in names}
    desk = ask_before_act(actions, dangerous=[names[1]], language=language)
    found: Any = None
    for text in texts:
        found = desk.tell("thread", text)
    assert (found.action if isinstance(found, Acted) else "") == wanted
    assert [request.text for request in heard] == [texts[0]] * bool(wanted)
