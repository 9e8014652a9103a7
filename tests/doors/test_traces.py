"""Spans of the doors in a program that has set a tracer provider of OpenTelemetry."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doors.each_door import BOOK, CANCEL
from naisei.doors import AskBeforeAct, Declined, Question, ask_before_act, check_before_say
from servers.openai_server import OpenAIServer

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture
def desk(server: OpenAIServer) -> AskBeforeAct[Any]:
    async def cancel(request: Any) -> str:
        return "cancelled"

    def book(request: Any) -> str:
        raise LookupError("no room is free")

    model = f"openai-compatible:test@{server.url}"
    return ask_before_act({BOOK: book, CANCEL: cancel}, model=model, language="ja")


def _conversation(desk: AskBeforeAct[Any]) -> None:
    async def talk() -> None:
        asked = await desk.atell("u", "会議の件")
        assert isinstance(asked, Question)
        await desk.atell("u", "取り消しで", step=asked.step)
        assert isinstance(await desk.atell("v", "こんにちは"), Declined)

    asyncio.run(talk())


@pytest.mark.parametrize("content", [False, True])
def test_each_effect_is_a_span_under_the_programs_own(
    content: bool, desk: AskBeforeAct[Any], spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry import trace

    monkeypatch.setenv(CONTENT, str(content).lower())
    with trace.get_tracer_provider().get_tracer("app").start_as_current_span("request") as mine:
        _conversation(desk)
    found = [span for span in spans.get_finished_spans() if span.name != "request"]
    assert all(span.parent.span_id == mine.get_span_context().span_id for span in found)
    chats = [span for span in found if span.name == "chat test"]
    assert len(chats) == 2 and all(span.attributes["gen_ai.usage.input_tokens"] for span in chats)
    assert {span.attributes["gen_ai.provider.name"] for span in chats} == {"openai"}
    assert [span.name for span in found if span.name.startswith("execute_tool")] == [
        "execute_tool ask_user",
        "execute_tool ask_user",
        "execute_tool act",
    ]
    assert not any(span.attributes.get("error.type") for span in found)
    assert {span.attributes["server.address"] for span in chats} == {"127.0.0.1"}
    told = str([dict(span.attributes) for span in found])
    assert "http" not in told and ("取り消しで" in told) is content


def test_what_an_action_raises_is_told(desk: AskBeforeAct[Any], spans: Any) -> None:
    asked = desk.tell("u", "会議の件")
    assert isinstance(asked, Question)
    with pytest.raises(LookupError):
        desk.tell("u", "予約で", step=asked.step)
    (failed,) = [s for s in spans.get_finished_spans() if s.attributes.get("error.type")]
    assert (failed.name, failed.attributes["error.type"]) == ("execute_tool act", "LookupError")


def test_drafts_and_judge_of_a_checked_line_are_spans(server: OpenAIServer, spans: Any) -> None:
    checked = check_before_say("ayu", judge=lambda asked: [5, 5, 5, 5, 5])(lambda: "そうですね。")
    assert checked() == "そうですね。"
    names = [span.name for span in spans.get_finished_spans()]
    assert names[:1] == ["write"] and "chat" in {name.split()[0] for name in names}
