"""Doors to frameworks, each driven as its users drive it, against a model on loopback."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypedDict

import pytest

from doors.each_door import ASKED, BOOK, CANCEL
from naisei.doors import AskBeforeAct, Request, ask_before_act
from servers.openai_server import OpenAIServer


def made(server: OpenAIServer, state: Path | None = None) -> AskBeforeAct[str]:
    def cancel(request: Request) -> str:
        return f"取り消し済み（{request.asked[0][1] if request.asked else 'すぐに'}）"

    return ask_before_act(
        {BOOK: lambda request: "予約済み", CANCEL: cancel},
        model=f"openai-compatible:test@{server.url}",
        state=state,
        language="ja",
    )


def test_langgraph_interrupts_with_the_question_and_resumes(server: OpenAIServer) -> None:
    pytest.importorskip("langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from naisei.doors.langgraph import clarify_graph

    graph = clarify_graph(made(server)).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    stopped = graph.invoke({"request": "会議の件"}, thread)
    assert [each.value["question"] for each in stopped["__interrupt__"]] == [ASKED]
    calls = server.calls
    done = graph.invoke(Command(resume="取り消しで"), thread)
    assert (done["action"], done["result"]) == (CANCEL, "取り消し済み（取り消しで）")
    assert server.calls == calls + 1, "resuming asks no model what it was asked before"

    async def go() -> Any:
        other: Any = {"configurable": {"thread_id": "2"}}
        await graph.ainvoke({"request": "会議の件"}, other)
        return await graph.ainvoke(Command(resume="予約で"), other)

    assert asyncio.run(go())["result"] == "予約済み"


@pytest.mark.parametrize("ids", [(), ("m1",)])
def test_a_node_of_another_graph_does_nothing_twice(server: OpenAIServer, ids: Any) -> None:
    """Whatever keys the state of the graph around it has."""
    pytest.importorskip("langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph
    from langgraph.types import Command

    from naisei.doors.langgraph import clarify_graph

    class Mine(TypedDict, total=False):
        request: str
        id: str
        action: str
        result: Any
        declined: str

    did: list[str] = []
    acting = {BOOK: lambda r: did.append(r.id), CANCEL: lambda r: did.append(r.id) or "gone"}
    desk = ask_before_act(acting, model=f"openai-compatible:test@{server.url}", language="ja")
    outer = StateGraph(Mine)
    outer.add_node("clarify", clarify_graph(desk).compile())
    outer.add_edge(START, "clarify")
    graph = outer.compile(checkpointer=InMemorySaver())
    said: Any = {"request": "予約を取り消して", **dict.fromkeys(ids and ["id"], *ids)}
    for thread in ("1", "2"):
        config: Any = {"configurable": {"thread_id": thread}}
        assert graph.invoke(said, config)["action"] == CANCEL
        again = graph.invoke(said, config)
        if ids:
            assert again["result"] == "gone", "what was done under this id"
        else:
            assert CANCEL in again["__interrupt__"][0].value["question"]
            assert graph.invoke(Command(resume="いいえ"), config)["declined"] == "not confirmed"
    assert len(did) == 2


def test_langgraph_streams_questions_and_answers_as_messages(server: OpenAIServer) -> None:
    pytest.importorskip("langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from naisei.doors.langgraph import clarify_graph

    graph = clarify_graph(made(server)).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}

    def streamed(given: Any) -> list[tuple[str, str]]:
        parts: Any = graph.stream(given, thread, stream_mode="messages")
        return [(message.type, message.text) for message, _ in parts]

    assert streamed({"request": "会議の件"}) == [("ai", ASKED)]
    assert streamed(Command(resume="取り消しで")) == [("human", "取り消しで")]
    kept: Any = graph.get_state(thread).values["messages"]
    assert [m.type for m in kept] == ["ai", "human"] and kept[0].usage_metadata["input_tokens"] > 0


def test_pydantic_ai_sends_a_line_back_with_reasons() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from naisei.doors.pydantic_ai import line_validator

    heard: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[TextPart("一人暮らしだよ。")])
        heard.append(str(messages[-1].parts[-1]))
        return ModelResponse(parts=[TextPart("あゆ: 明日は晴れるでしょう。")])

    agent: Any = Agent(FunctionModel(model), output_type=str, retries=2)
    agent.output_validator(line_validator("ayu", language="ja"))
    assert agent.run_sync("元気？").output.endswith("明日は晴れるでしょう。")
    assert len(heard) == 1 and "書き直してください" in heard[0]


def test_a_streamed_run_of_pydantic_ai_lets_no_rejected_line_out() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.models.function import FunctionModel

    from naisei.doors.pydantic_ai import line_validator

    async def pieces(messages: Any, info: Any) -> AsyncIterator[str]:
        for piece in ("明日は晴れるでしょう。", "一人", "暮らしだよ。"):
            yield piece

    agent: Any = Agent(FunctionModel(stream_function=pieces), output_type=str, retries=2)
    agent.output_validator(line_validator("ayu", language="ja"))
    heard: list[str] = []

    async def go() -> None:
        nonlocal heard
        async with agent.run_stream("元気？") as run:
            async for text in run.stream_text(debounce_by=None):
                heard += [text]

    with pytest.raises(UnexpectedModelBehavior):
        asyncio.run(go())
    assert heard[-1] == "明日は晴れるでしょう。"


def test_openai_agents_guardrails(server: OpenAIServer) -> None:
    agents = pytest.importorskip("agents")
    from naisei.doors.openai_agents import clarifying_guardrail, line_guardrail

    agents.set_tracing_disabled(True)
    with OpenAIServer(reply=lambda messages, schema: "一人暮らしだよ。") as writer:
        agent = agents.Agent(
            name="desk",
            model=spoken(agents, writer),
            input_guardrails=[clarifying_guardrail(made(server))],
        )
        with pytest.raises(agents.InputGuardrailTripwireTriggered) as tripped:
            agents.Runner.run_sync(agent, "会議の件")
        assert tripped.value.guardrail_result.output.output_info["question"] == ASKED
        assert writer.calls == 0, "nothing was begun before it was clear"
        said = [
            {"role": "user", "content": "会議の件"},
            {"role": "assistant", "content": ASKED},
            {"role": "user", "content": "取り消しで"},
        ]
        assert agents.Runner.run_sync(agent, said).final_output == "一人暮らしだよ。"
        ayu = agents.Agent(
            name="ayu", model=spoken(agents, writer), output_guardrails=[line_guardrail("ayu")]
        )
        with pytest.raises(agents.OutputGuardrailTripwireTriggered) as unlike:
            agents.Runner.run_sync(ayu, "元気？")
        assert unlike.value.guardrail_result.output.output_info["reasons"]


def test_openai_agents_hands_over_once_it_is_clear_to_whom(server: OpenAIServer) -> None:
    agents = pytest.importorskip("agents")
    from naisei.doors.openai_agents import clarifying_agent

    agents.set_tracing_disabled(True)
    with OpenAIServer(reply=lambda messages, schema: "承りました。") as writer:

        def first() -> Any:
            desks = [
                agents.Agent(name=n, handoff_description=about, model=spoken(agents, writer))
                for n, about in (("booking", BOOK), ("cancelling", CANCEL))
            ]
            return clarifying_agent(desks, model=f"openai-compatible:test@{server.url}")

        asked = agents.Runner.run_sync(first(), "会議の件")
        assert (asked.final_output, asked.last_agent.name) == (ASKED, "clarify")
        more = [*asked.to_input_list(), {"role": "user", "content": "取り消しで"}]
        done = agents.Runner.run_sync(first(), more)
        assert (done.final_output, done.last_agent.name) == ("承りました。", "cancelling")

        async def streamed() -> Any:
            result = agents.Runner.run_streamed(first(), "予約を取り消して")
            async for _ in result.stream_events():
                pass
            return result

        result = asyncio.run(streamed())
        assert (result.final_output, result.last_agent.name) == ("承りました。", "cancelling")


def spoken(agents: Any, server: OpenAIServer) -> Any:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=server.url, api_key="x")
    return agents.OpenAIChatCompletionsModel("test", client)


def test_the_example_asks_and_acts(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langgraph")
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "meeting_desk.py"))
    answers, asked = iter(["会議の件", "取り消しで"]), []

    def person(question: str) -> str:
        asked.append(question.strip())
        return next(answers)

    monkeypatch.setattr("builtins.input", person)
    example["main"](f"openai-compatible:test@{server.url}")
    assert asked[1:] == [ASKED]
    assert capsys.readouterr().out == "取り消しました（会議の件）\n"
