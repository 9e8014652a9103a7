"""CPU that a door adds to a call: `python benchmarks/doors.py [--calls 200] [--rounds 3]`.

A model on loopback answers at once, in a process of its own. Every case runs with the door and
without it (the framework alone, or a bare POST), by turns; what is told is the difference in CPU
milliseconds a call, the median of the rounds. Of the proxy, which is a process of its own, all
CPU counts. Doors whose framework is not installed are left out. Fails (exit code 1) if a door
adds more than 5 ms. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.measured import server
from naisei.doors import ask_before_act, check_before_say, reflect_after_failure

BAR_MS = 5.0
LINE = "明日は晴れるでしょう。洗濯の目安は午前です。"
ACTIONS = ("会議室を予約する", "予約を取り消す")
MESSAGES = [{"role": "system", "content": "日本語で短く答えます。" * 40}]
MESSAGES += [{"role": "user", "content": "会議の件"}]
Call = Callable[[int], Awaitable[Any]]


class Cases:
    """Calls by name, with the door and without it. url: of the model."""

    def __init__(self, url: str, folder: Path, stack: AsyncExitStack) -> None:
        self.url, self.folder, self.stack = url, folder, stack
        self.spec = f"openai-compatible:test@{url}"
        self.desk = ask_before_act(
            dict.fromkeys(ACTIONS, lambda request: "ok"),
            model=self.spec,
            quota=0,
            state=folder / "desk.sqlite",
            language="ja",
        )

    async def made(self) -> dict[str, tuple[Call, Call]]:
        found = {
            "ask_before_act": (self.acts, await self.posted(self.url)),
            "check_before_say": (self.checked(), self.nothing),
            "reflect_after_failure": (self.reflected(), self.nothing),
        }
        if _there("mcp"):
            found["mcp judge_line"] = await self.mcp()
        if _there("langgraph"):
            found["langgraph"] = (self.graph(), await self.posted(self.url))
        if _there("pydantic_ai"):
            found["pydantic-ai line_validator"] = self.pydantic_ai()
        if _there("agents"):
            found["openai-agents line_guardrail"] = self.agents()
        return found

    async def nothing(self, n: int) -> None:
        """Your function alone."""

    async def posted(self, url: str) -> Call:
        """The model asked without anything between."""
        client = await self.stack.enter_async_context(httpx2.AsyncClient(timeout=60))

        async def post(n: int) -> None:
            body = {"model": "test", "messages": MESSAGES}
            (await client.post(f"{url}/chat/completions", json=body)).raise_for_status().json()

        return post

    async def acts(self, n: int) -> None:
        await self.desk.atell(f"t{time.monotonic_ns()}", "会議の件")

    def checked(self) -> Call:
        @check_before_say("ayu", state=self.folder / "lines.sqlite")
        async def reply(n: int, reasons: Any = ()) -> str:
            return LINE.replace("明日", f"{n}日")

        return reply

    def reflected(self) -> Call:
        @reflect_after_failure(model=self.spec, per="n", state=self.folder / "memos.sqlite")
        async def reserve(n: int, memo: str = "") -> str:
            return "ok"

        return reserve

    async def mcp(self) -> tuple[Call, Call]:
        from mcp.client import Client
        from mcp.server import MCPServer

        from naisei.doors.mcp import mcp_server

        alone = MCPServer("alone", log_level="ERROR")
        alone.tool(name="judge_line")(_echo)
        ours = await self.stack.enter_async_context(Client(mcp_server()))
        theirs = await self.stack.enter_async_context(Client(alone))

        def calls(client: Any) -> Call:
            async def call(n: int) -> None:
                given = {"line": f"{n}{LINE}", "character": "ayu"}
                assert not (await client.call_tool("judge_line", given)).is_error

            return call

        return calls(ours), calls(theirs)

    def graph(self) -> Call:
        from langgraph.checkpoint.memory import InMemorySaver

        from naisei.doors.langgraph import clarify_graph

        graph = clarify_graph(self.desk).compile(checkpointer=InMemorySaver())

        async def call(n: int) -> None:
            thread: Any = {"configurable": {"thread_id": f"{time.monotonic_ns()}"}}
            await graph.ainvoke({"request": "会議の件"}, thread)

        return call

    def pydantic_ai(self) -> tuple[Call, Call]:
        from pydantic_ai import Agent
        from pydantic_ai.models.test import TestModel

        from naisei.doors.pydantic_ai import line_validator

        ours: Any = Agent(TestModel(custom_output_text=LINE), output_type=str, retries=2)
        ours.output_validator(line_validator("ayu", language="ja"))
        theirs: Any = Agent(TestModel(custom_output_text=LINE), output_type=str, retries=2)

        def calls(agent: Any) -> Call:
            async def call(n: int) -> None:
                await agent.run("元気？")

            return call

        return calls(ours), calls(theirs)

    def agents(self) -> tuple[Call, Call]:
        import agents
        from openai import AsyncOpenAI

        from naisei.doors.openai_agents import line_guardrail

        agents.set_tracing_disabled(True)
        model = agents.OpenAIChatCompletionsModel(
            "test", AsyncOpenAI(base_url=self.url, api_key="x")
        )
        ours = agents.Agent(name="a", model=model, output_guardrails=[line_guardrail("ayu")])
        theirs = agents.Agent(name="b", model=model)

        def calls(agent: Any) -> Call:
            async def call(n: int) -> None:
                await agents.Runner.run(agent, "元気？")

            return call

        return calls(ours), calls(theirs)


def _echo(line: str, character: str) -> str:
    return line


def _there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


async def spent(call: Call, calls: int, cpu: Callable[[], float]) -> float:
    """CPU milliseconds a call."""
    began = cpu()
    for n in range(calls):
        await call(n)
    return (cpu() - began) / calls * 1000


@contextmanager
def proxy(upstream: str, *features: str) -> Iterator[tuple[str, Callable[[], float]]]:
    """`naisei proxy` in a process of its own: its URL, and the CPU seconds it has spent."""
    command = [sys.executable, "-m", "naisei", "proxy", upstream, "--port", "0"]
    for feature in features:
        command += ["--with", feature]
    command += ["--model", f"openai-compatible:test@{upstream}"]
    process = subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = next(line for line in process.stdout if "http://127.0.0.1" in line)
        ticks = os.sysconf("SC_CLK_TCK")

        def cpu() -> float:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / ticks

        yield next(word for word in told.split() if word.startswith("http")), cpu
    finally:
        process.kill()
        process.wait()


async def measured(url: str, calls: int, rounds: int) -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            cases = Cases(url, Path(folder), stack)
            for name, (ours, theirs) in (await cases.made()).items():
                await spent(ours, 20, time.process_time)
                await spent(theirs, 20, time.process_time)
                more = []
                for _ in range(rounds):
                    whole = await spent(ours, calls, time.process_time)
                    more.append(whole - await spent(theirs, calls, time.process_time))
                found[name] = statistics.median(more)
            for features in ((), ("check:ayu",), ("memo",)):
                with proxy(url, *features) as (address, cpu):
                    post = await cases.posted(address)
                    await spent(post, 20, cpu)
                    more = [await spent(post, calls, cpu) for _ in range(rounds)]
                    found[" ".join(["proxy", *features])] = statistics.median(more)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with server(0.0) as url:
        found = asyncio.run(measured(url, given.calls, given.rounds))
    for name, milliseconds in found.items():
        print(f"{milliseconds:8.2f} ms  {name}", file=sys.stderr)
    print(json.dumps({"cpu_ms_added": found, "bar_ms": BAR_MS}))
    return int(max(found.values()) > BAR_MS)


if __name__ == "__main__":
    raise SystemExit(main())
