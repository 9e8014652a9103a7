"""The MCP server through the SDK's own client: in memory, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult

from commandline import Naisei
from naisei.doors.mcp import mcp_server
from naisei.serving import Server, bound, uvicorn_config
from servers.intent_server import indexed
from servers.openai_server import OpenAIServer

ACTIONS = ["会議室を予約する", "予約を取り消す"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("docs"))


def decides(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    asks = sum(m["role"] == "user" for m in messages) == 1
    choice = "clarify" if asks else "execute"
    said = {"thought": "t", "choice": choice, "question": "どちら？" if asks else "", "action": 2}
    return json.dumps(said, ensure_ascii=False)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply=decides) as server:
        yield server


async def call(client: Client, tool: str, **given: Any) -> Any:
    result = await client.call_tool(tool, given)
    assert not result.is_error, result.content
    found = result.structured_content
    return found["result"] if found is not None and set(found) == {"result"} else found


def test_each_tool_does_what_its_system_does(server: OpenAIServer, index: Path) -> None:
    async def go() -> None:
        made = mcp_server(model=f"openai-compatible:test@{server.url}", index=index)
        async with Client(made) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {
                *("clarify_next", "judge_line", "rate_relationship", "emphasise"),
                "ask_documents",
            }
            asked = await call(client, "clarify_next", request="会議の件", actions=ACTIONS)
            assert (asked["choice"], asked["question"]) == ("ask", "どちら？")
            more = [{"question": "どちら？", "answer": "取り消し"}]
            acts = await call(
                client, "clarify_next", request="会議の件", actions=ACTIONS, asked=more
            )
            assert (acts["choice"], acts["action"]) == ("act", ACTIONS[1])
            judged = await call(client, "judge_line", line="一人暮らしだよ。", character="ayu")
            assert judged["status"] == "RETRY" and judged["reasons"]
            lines = [
                {"speaker": "部長", "text": "これ、明日までにやっといて。"},
                {"speaker": "田中", "text": "承知いたしました。明日までに提出いたします。"},
                {"speaker": "部長", "text": "頼んだぞ。"},
            ]
            read = await call(client, "rate_relationship", lines=lines)
            assert [(r["src"], r["dst"]) for r in read] == [("部長", "田中"), ("田中", "部長")]
            assert read[0]["values"]["Power"] > read[1]["values"]["Power"]
            text = "# 規程\n\n有給休暇の申請は、取得日の3日前までに上長へ行ってください。\n"
            bold = await call(client, "emphasise", text=text)
            assert bold["text"].replace("**", "") == text
            wrong = await client.call_tool("judge_line", {"line": "x", "character": "../a.toml"})
            assert wrong.is_error

    asyncio.run(go())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_vague_question_is_elicited(index: Path, mode: str) -> None:
    heard: list[str] = []

    async def person(context: Any, asked: Any) -> ElicitResult:
        heard.append(asked.message)
        return ElicitResult(action="accept", content={"answer": "1"})

    async def go() -> Any:
        async with Client(mcp_server(index=index), elicitation_callback=person, mode=mode) as c:
            return await call(c, "ask_documents", question="休暇について知りたい")

    found = asyncio.run(go())
    assert heard and found["kind"] == "answer", found
    assert found["citations"]


def test_a_client_that_cannot_ask_gets_the_question(index: Path) -> None:
    async def go() -> None:
        async with Client(mcp_server(index=index)) as client:
            said: list[dict[str, Any]] = []
            while True:
                found = await call(
                    client, "ask_documents", question="休暇について知りたい", exchanges=said
                )
                if found["kind"] == "answer":
                    break
                options = found["options"]
                said.append({"question": found["text"], "answer": "1", "options": options})
            assert 1 <= len(said) <= 3 and found["citations"]

    asyncio.run(go())


def test_runs_are_resources_and_http_is_served(english: Path, naisei: Naisei) -> None:
    naisei("clarify", "run", "--agent", "random", "--limit", 2, "-q", "--run-dir", "runs/one")
    made = mcp_server(runs=Path("runs"))
    listening = bound("127.0.0.1", 0)
    ready, address = threading.Event(), [""]

    def told(url: str) -> None:
        address[0] = url
        ready.set()

    async def look() -> None:
        served = made.streamable_http_app(host="127.0.0.1")
        async with made.session_manager.run():
            server = Server(uvicorn_config(served), told)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            await asyncio.to_thread(ready.wait, 30)
            async with Client(f"{address[0]}/mcp") as client:
                found: Any = (await client.read_resource("runs://list")).contents[0]
                assert [run["system"] for run in json.loads(found.text)] == ["clarify"]
                one: Any = (await client.read_resource("runs://run/one")).contents[0]
                assert json.loads(one.text)["frozen"]["config"]["agent"] == "random"
                with pytest.raises(Exception, match="run"):
                    await client.read_resource("runs://run/..")
            server.should_exit = True
            await serving

    asyncio.run(look())


def test_stdio(tmp_path: Path) -> None:
    async def go() -> Any:
        environment = {**os.environ, "NAISEI_LANG": "ja"}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "naisei", "mcp"], env=environment, cwd=tmp_path
        )
        async with Client(stdio_client(command)) as client:
            return await call(client, "judge_line", line="えー！それ、ほんと？")

    assert asyncio.run(go())["status"] == "PASS"


def test_a_missing_index_is_told_at_once(naisei: Naisei, english: Path) -> None:
    done = naisei("mcp", "--index", "nowhere")
    assert done.code == 2 and "nowhere" in done.err
