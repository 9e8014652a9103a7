"""Every door as its own client library drives it, behind one shape: who says what, what came."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.doors import Acted, Question, Request, ask_before_act

BOOK, CANCEL = "会議室を予約する", "予約を取り消す"
ASKED = "新しい予約ですか、取り消しですか？"


def decides(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Asks where nothing says which; then takes the last words, and never declines by itself."""
    said = [str(m["content"]) for m in messages if m["role"] == "user"]
    told = [str(m["content"]) for m in messages if m["role"] == "system"]
    if schema is None:
        return next((text for text in reversed(told) if "Wanted" in text or "望む" in text), "…")
    asks = len(said) == 1 and "取り消" not in said[0]
    choice = {"choice": "clarify", "question": ASKED} if asks else {"choice": "execute"}
    action = 2 if "取り消" in said[-1] else 1
    return json.dumps({"thought": "t", "question": "", **choice, "action": action})


@dataclass
class Reply:
    """kind: question, acted, declined, refused. text: the question, or the action. to: what the
    client needs to answer it."""

    kind: str
    text: str = ""
    to: Any = None


@dataclass
class Door:
    """url: of the model. folder: of what survives a restart. acts: (request, action), as carried
    out."""

    url: str
    folder: Path
    acts: list[tuple[str, str]] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Everything that a process holds is gone."""

    def request(self, user: str, text: str) -> Reply:
        raise NotImplementedError

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        raise NotImplementedError

    def desk(self, **options: Any) -> Any:
        def acting(action: str) -> Callable[[Request], str]:
            def act(request: Request) -> str:
                self.acts.append((request.text, action))
                return action

            return act

        return ask_before_act(
            {action: acting(action) for action in (BOOK, CANCEL)},
            model=f"openai-compatible:test@{self.url}",
            language="ja",
            **options,
        )


class Tell(Door):
    def restart(self) -> None:
        self.made = self.desk(state=self.folder / "desk.sqlite")

    def request(self, user: str, text: str) -> Reply:
        return self._told(user, text)

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        return self._told(user, text, step=asked.to)

    def _told(self, user: str, text: str, **more: Any) -> Reply:
        try:
            found = self.made.tell(user, text, **more)
        except InputError:
            return Reply("refused")
        if isinstance(found, Question):
            return Reply("question", found.text, found.step)
        return Reply("acted", found.action) if isinstance(found, Acted) else Reply("declined")


class LangGraph(Door):
    def __post_init__(self) -> None:
        saver = pytest.importorskip("langgraph.checkpoint.memory")
        self.saver = saver.InMemorySaver()
        self.restart()

    def restart(self) -> None:
        from naisei.doors.langgraph import clarify_graph

        self.graph = clarify_graph(self.desk()).compile(checkpointer=self.saver)

    def request(self, user: str, text: str) -> Reply:
        return self._invoked(user, {"request": text})

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        from langgraph.types import Command

        return self._invoked(user, Command(resume={"answer": text, "step": asked.to}))

    def _invoked(self, user: str, given: Any) -> Reply:
        state = self.graph.invoke(given, {"configurable": {"thread_id": user}})
        for stopped in state.get("__interrupt__", ()):
            return Reply("question", stopped.value["question"], stopped.value["step"])
        return Reply("declined") if state["declined"] else Reply("acted", state["action"])


class PydanticAI(Door):
    """With a model that gives every call the same id."""

    def restart(self) -> None:
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel

        from naisei.doors.pydantic_ai import clarifying_toolset

        def model(messages: list[Any], info: Any) -> ModelResponse:
            last = messages[-1].parts[-1]
            if last.part_kind == "tool-return":
                return ModelResponse(parts=[TextPart(json.dumps(last.content))])
            given = {"request": str(last.content)}
            return ModelResponse(parts=[ToolCallPart("request_action", given, tool_call_id="c")])

        self.made = self.desk(state=self.folder / "desk.sqlite")
        self.agent: Any = Agent(
            FunctionModel(model),
            toolsets=[clarifying_toolset(self.made)],
            output_type=[str, DeferredToolRequests],
        )

    def request(self, user: str, text: str) -> Reply:
        return self._read(self.agent.run_sync(text))

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        from pydantic_ai import DeferredToolRequests

        from naisei.doors.pydantic_ai import answered, questions

        history, pending = asked.to
        given = dict.fromkeys(questions(pending), text)
        try:
            left = asyncio.run(answered(self.made, pending, given))
        except InputError:
            return Reply("refused")
        if isinstance(left, DeferredToolRequests):
            return Reply("question", *questions(left).values(), to=(history, left))
        done = self.agent.run_sync(message_history=history, deferred_tool_results=left)
        return self._read(done)

    def _read(self, run: Any) -> Reply:
        from naisei.doors.pydantic_ai import questions

        if not isinstance(run.output, str):
            (text,) = questions(run.output).values()
            return Reply("question", text, (run.all_messages(), run.output))
        found = json.loads(run.output)
        return Reply("acted", found["action"]) if "action" in found else Reply("declined")


class OpenAIAgents(Door):
    """The agent that hands over; its conversation is the client's."""

    def restart(self) -> None:
        agents = pytest.importorskip("agents")
        from openai import AsyncOpenAI

        from naisei.doors.openai_agents import clarifying_agent

        agents.set_tracing_disabled(True)
        client = AsyncOpenAI(base_url=self.url, api_key="x")
        model = agents.OpenAIChatCompletionsModel("test", client)
        desks = [
            agents.Agent(name=name, handoff_description=about, model=model)
            for name, about in (("book", BOOK), ("cancel", CANCEL))
        ]
        spec = f"openai-compatible:test@{self.url}"
        self.first = clarifying_agent(desks, model=spec, language="ja")
        self.run = agents.Runner.run_sync
        self.held: dict[str, list[Any]] = {}

    def request(self, user: str, text: str) -> Reply:
        return self._ran(text, self.held.get(user, []), user)

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        return self._ran(text, asked.to, user)

    def _ran(self, text: str, before: list[Any], user: str) -> Reply:
        done = self.run(self.first, [*before, {"role": "user", "content": text}])
        self.held[user] = done.to_input_list()
        if done.last_agent.name != "clarify":
            action = BOOK if done.last_agent.name == "book" else CANCEL
            self.acts.append((text, action))
            return Reply("acted", action)
        if done.final_output == ASKED:
            return Reply("question", ASKED, self.held[user])
        return Reply("declined")


class Proxy(Door):
    def restart(self) -> None:
        from doors.test_proxy import proxied

        self.stack.close()
        (self.folder / "actions.txt").write_text(f"{BOOK}\n{CANCEL}", encoding="utf-8")
        options = {"actions": self.folder / "actions.txt", "state": self.folder / "p.sqlite"}
        server: Any = type("Upstream", (), {"url": self.url})
        self.client = self.stack.enter_context(proxied(server, **options, features=("ask",)))
        self.held: dict[str, list[Any]] = {}

    def request(self, user: str, text: str) -> Reply:
        return self._asked(text, self.held.get(user, []), user)

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        return self._asked(text, asked.to, user)

    def _asked(self, text: str, before: list[Any], user: str) -> Reply:
        messages: Any = [*before, {"role": "user", "content": text}]
        done = self.client.chat.completions.create(model="test", messages=messages, user=user)
        said = str(done.choices[0].message.content)
        self.held[user] = [*messages, {"role": "assistant", "content": said}]
        told: Any = done.model_extra["naisei"]["ask"]  # type: ignore[index]
        if "question" in told:
            return Reply("question", said, self.held[user])
        if "wanted" not in told:
            return Reply("declined")
        assert told["wanted"] in said, "the model was told what is wanted"
        self.acts.append((text, told["wanted"]))
        return Reply("acted", told["wanted"])


class Mcp(Door):
    def request(self, user: str, text: str) -> Reply:
        return self._called(text, [])

    def answer(self, user: str, asked: Reply, text: str) -> Reply:
        request, before = asked.to
        return self._called(request, [*before, {"question": asked.text, "answer": text}])

    def _called(self, request: str, asked: list[dict[str, str]]) -> Reply:
        client = pytest.importorskip("mcp.client").Client
        from naisei.doors.mcp import mcp_server

        async def go() -> Any:
            async with client(mcp_server(model=f"openai-compatible:test@{self.url}")) as opened:
                given = {"request": request, "actions": [BOOK, CANCEL], "asked": asked}
                return (await opened.call_tool("clarify_next", given)).structured_content

        found = asyncio.run(go())
        if found["choice"] == "ask":
            return Reply("question", found["question"], (request, asked))
        if found["choice"] == "nothing":
            return Reply("declined")
        self.acts.append((request, found["action"]))
        return Reply("acted", found["action"])


DOORS: list[type[Door]] = [Tell, LangGraph, PydanticAI, OpenAIAgents, Proxy, Mcp]
#: Those that carry actions out themselves, and so see to it that it is done once.
ACTING: list[type[Door]] = [Tell, LangGraph, PydanticAI]


@contextmanager
def opened(door: type[Door], url: str, folder: Path) -> Iterator[Door]:
    made = door(url, folder)
    try:
        yield made
    finally:
        made.stack.close()


def at_once(*calls: Callable[[], Any]) -> None:
    """All of them side by side."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
