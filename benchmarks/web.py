"""The web app's bars: first page, a run of 10,000 episodes, 50 chats at once, first paint.

    python benchmarks/web.py [--episodes 10000] [--chats 50] [--turns 10] [--think 1.0] [--paint]

Everything is over loopback, from another process. The chats' model is a scripted one, so that what
is measured is ours: from sending a line to its answer on the stream. `think` is the mean time
(seconds) between an answer and the next line; 0 sends at once, which is a test of throughput.
`paint` opens pages in Chromium (playwright), too: until the first contentful paint, without a
cache, beside that of a page of one line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from naisei.core import AskUser, Chat, Event, Flow, Message, Say, Usage, Where
from naisei.core.messages import fingerprint
from naisei.runs.conversation import Prepared
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.report import StoredSummary, store_summary
from naisei.runs.task import EpisodeRow, Metric, Summary
from naisei.serving import Server, bound, uvicorn_config
from naisei.web.app import build_app, settle
from naisei.web.conversations.kind import (
    ConversationConfig,
    ConversationContext,
    ConversationKind,
    ConversationRun,
)
from naisei.web.options import WebOptions
from naisei.web.pages import Page, pages
from naisei.web.state import holding, open_server, server_of


class Config(BaseModel):
    model: str
    turns: int


class Result(BaseModel):
    turns: int


def talk(turns: int) -> Flow[Result]:
    for _ in range(turns):
        said = yield from AskUser("")
        system = Message(role="system", content="あなたは家庭の助手です。" * 40)
        told = [system, Message(role="user", content=said)]
        yield from Say((yield from Chat("agent", told)), "agent")
    return Result(turns=turns)


@asynccontextmanager
async def _open(config: Config, context: ConversationContext) -> AsyncIterator[Prepared]:
    base = await context.world({"agent": config.model})
    yield Prepared(
        talk(config.turns), base.having({AskUser: context.human(None), Say: lambda effect: None})
    )


def _lines(config: Config, id: str, event: Event) -> tuple[Line, ...]:
    return (Line("…"),) if event.kind == "say" else ()


KIND: ConversationKind[Config] = ConversationKind(
    name="bench", config=Config, open=_open, lines=_lines
)


async def _begin(request: Request) -> Response:
    query = request.query_params
    config = Config(model=query["model"], turns=int(query["turns"]))
    server = server_of(request)
    conversation = await server.conversations.begin(request.state.visitor, KIND, config)
    return RedirectResponse(f"/bench/{conversation.id}", 303)


BENCH = Page(
    name="bench",
    title=("計測", "Bench"),
    about=("", ""),
    icon="",
    order=99,
    routes=[Route("/bench", _begin, methods=["POST"])],
    kinds=(KIND,),
)


def serve(state: Path) -> None:
    options = WebOptions(state=state / "state", runs=state / "runs", port=0)
    listening = bound(options.host, options.port)

    async def go() -> None:
        async with open_server(options, pages=(*pages(), BENCH)) as server:
            config = uvicorn_config(build_app(server), grace=1)
            settle()
            ready = lambda url: print(url, flush=True)  # noqa: E731
            await Server(config, ready).serve(sockets=[listening])

    with holding(options.state):
        asyncio.run(go())


def make_run(path: Path, n: int) -> None:
    """Six effects an episode, prompts of about 2 KB."""
    config = ConversationConfig(kind="bench", title="", language="ja", settings={})
    used = Usage("agent", "openai:m", 1, 1, 900, 80, 0.0001)
    with RunDirectory.of(ConversationRun(config, system="clarify"), path) as run:
        for i in range(n):
            where = Where(f"item-{i:05}")
            asked = [Message(role="system", content="あなたは助手です。" * 60)]
            asked.append(Message(role="user", content=f"状況 {i} のどが渇いた。" * 40))
            reply = {"question": "お茶にしますか？", "thought": "まだ分からない"}
            steps = [
                (Chat("agent", asked), reply, used),
                (AskUser("お茶にしますか？"), "はい、温かいもので", None),
                (Chat("agent", asked), reply, used),
                (AskUser("今すぐですか？"), "あとで", None),
                (Chat("agent", asked), reply, used),
                (Say("わかりました", "agent"), None, None),
            ]
            for step, (effect, result, usage) in enumerate(steps):
                request = effect.request()
                digest = fingerprint([effect.kind, request])
                event = Event(
                    where.at(step), effect.kind, digest, request, result, None, usage, 0.1
                )
                run.log.append(event)
            run.log.finish(EpisodeRow(where, {"success": i % 3 > 0}))
        run.log.put("episodes", n)
        values = tuple(float(i % 3 > 0) for i in range(n))
        metric = Metric("pass@1", statistics.fmean(values), 0.65, 0.68, n, "", values)
        units = [f"item-{i:05}" for i in range(n)]
        store_summary(run, StoredSummary(Summary((metric,), extra={"units": units}), n))


async def call(port: int, method: str, path: str, headers: dict[str, str]) -> tuple[str, bytes]:
    """Head and body of one request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    given = {"Host": f"127.0.0.1:{port}", "Connection": "close", "Content-Length": "0", **headers}
    lines = "".join(f"{k}: {v}\r\n" for k, v in given.items())
    writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode())
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode(), body


async def opening(port: int, path: str, times: int = 15) -> tuple[float, float, int]:
    """Median and worst milliseconds, and bytes."""
    took, size = [], 0
    for _ in range(times):
        began = time.perf_counter()
        head, body = await call(port, "GET", path, {})
        took.append(1000 * (time.perf_counter() - began))
        assert " 200 " in head.splitlines()[0], head
        size = len(body)
    return statistics.median(took), max(took), size


def painted(port: int, path: str, times: int = 9) -> tuple[float, float]:
    """Median and worst milliseconds until something is painted, each time without a cache."""
    from playwright.sync_api import sync_playwright

    chromium = next(p for n in ("chromium", "google-chrome") if (p := shutil.which(n)))
    took = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(times):
            page = browser.new_context().new_page()
            page.goto(f"http://127.0.0.1:{port}{path}")
            paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            while (at := page.evaluate(paint)) is None:
                page.wait_for_timeout(10)
            took.append(float(at))
            page.context.close()
    return statistics.median(took), max(took)


async def one_chat(
    port: int, number: int, script: Path, args: argparse.Namespace, at: asyncio.Barrier
) -> list[float]:
    head, page = await call(port, "GET", "/", {})
    cookie = re.search(r"set-cookie: ([^;]+)", head)
    proof = re.search(rb'name="csrf" content="(\w+)"', page)
    assert cookie is not None and proof is not None
    given = {"Cookie": cookie[1], "X-CSRF-Token": proof[1].decode()}
    query = urlencode({"model": f"scripted:{script}", "turns": args.turns})
    head, _ = await call(port, "POST", f"/bench?{query}", given)
    found = re.search(r"location: /bench/(\w+)", head)
    assert found is not None, head
    # Both writers are held: one that is collected closes its connection.
    reader, stream = await asyncio.open_connection("127.0.0.1", port)
    stream.write(
        f"GET /conversations/{found[1]}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Cookie: {cookie[1]}\r\n\r\n".encode()
    )
    steps: asyncio.Queue[str] = asyncio.Queue()
    lines: asyncio.Queue[float] = asyncio.Queue()

    async def listen() -> None:
        name = ""
        async for raw in reader:
            text = raw.decode().strip()
            if text.startswith("event: "):
                name = text.removeprefix("event: ")
            elif text.startswith("data: ") and name == "line":
                lines.put_nowait(time.perf_counter())
                name = ""  # its data may be several lines
            elif step := re.search(r'name="step" value="([\d.]+)"', text):
                steps.put_nowait(step[1])

    listening = asyncio.create_task(listen())
    sender, writer = await asyncio.open_connection("127.0.0.1", port)
    took = []
    step = await steps.get()
    await at.wait()
    for turn in range(args.turns):
        # Neither in step with the others nor by chance: the same at every run.
        await asyncio.sleep(args.think * (0.5 + (number * 7919 + turn * 104729) % 1000 / 1000))
        body = urlencode({"step": step, "text": f"こんにちは {number} {turn}"})
        headers = {
            "Host": f"127.0.0.1:{port}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": str(len(body)),
            **given,
        }
        rows = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
        began = time.perf_counter()
        writer.write(f"POST /conversations/{found[1]}/answer HTTP/1.1\r\n{rows}\r\n{body}".encode())
        head = (await sender.readuntil(b"\r\n\r\n")).decode()
        assert " 204 " in head.splitlines()[0], head
        took.append(1000 * (await lines.get() - began))
        if turn + 1 < args.turns:
            step = await steps.get()
    listening.cancel()
    stream.close()
    return took


async def chats(port: int, script: Path, args: argparse.Namespace) -> list[float]:
    barrier = asyncio.Barrier(args.chats)
    all_ = (one_chat(port, n, script, args, barrier) for n in range(args.chats))
    return sorted(ms for took in await asyncio.gather(*all_) for ms in took)


@contextmanager
def served(root: Path) -> Iterator[tuple[int, int]]:
    """Port and process id of a server in a process of its own."""
    command = [sys.executable, __file__, "--serve", str(root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline().strip().rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait()


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--paint", action="store_true")
    parser.add_argument("--serve", type=Path, default=None, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        serve(args.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_run(root / "runs" / "big", args.episodes)
        script = root / "script.jsonl"
        script.write_text(
            json.dumps({"reply": "承知しました。"}, ensure_ascii=False) + "\n", "utf-8"
        )
        last = max(args.episodes - 100, 0)
        with served(root) as (port, pid):
            for name, path in {
                "nothing (floor)": "/health",
                "first page": "/",
                "run": "/runs/show/big",
                "last 100 episodes": f"/runs/episodes/big?from={last}",
                "filtered": "/runs/episodes/big?text=99&outcome=bad",
                "costs": "/runs/costs/big",
                "episode": "/runs/episode/big?e=item-00001%230",
            }.items():
                median, worst, size = asyncio.run(opening(port, path))
                print(f"{name:18} median {median:7.1f} ms  worst {worst:7.1f} ms  {size:8,} bytes")
                if args.paint and not name.startswith(("last", "filtered", "costs")):
                    median, worst = painted(port, path)
                    print(f"{'  first paint':18} median {median:7.1f} ms  worst {worst:7.1f} ms")
            before = cpu(pid)
            took = asyncio.run(chats(port, script, args))
            used = 1000 * (cpu(pid) - before) / len(took)
            p50, p95 = took[len(took) // 2], took[int(len(took) * 0.95)]
            print(
                f"{args.chats} chats, {args.turns} turns, think {args.think} s: "
                f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, worst {took[-1]:.1f} ms; "
                f"{used:.2f} ms of processor time a turn, beginnings included"
            )


if __name__ == "__main__":
    main()
