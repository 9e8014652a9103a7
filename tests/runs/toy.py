"""A small task with every kind of effect, and a command that runs it: for the run tests.

    python toy.py RUN_DIR CALLS_FILE [--n N] [--latency S] [--max-tokens T] [--flavour F]
        [--store URL] [--engine ray]

Every performed call appends one line to CALLS_FILE just before it returns.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import (
    Act,
    AskUser,
    Chat,
    Flow,
    FlowHandler,
    Gather,
    Handler,
    InstrumentFailure,
    Observation,
    Performed,
    Remember,
    Usage,
    Where,
    World,
    system,
    user,
)
from naisei.runs.budget import Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import Engine, RunOutcome, run_task
from naisei.runs.lines import Line
from naisei.runs.result import RunResult, finish
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Table, Task

RULES = "あなたは家の助手です。必ず短く答えてください。" * 20


class Config(BaseModel):
    n: int = 4
    flavour: str = "plain"
    nested: dict[str, list[int]] = {"ks": [1, 3]}


class Reply(BaseModel):
    word: str


class Result(BaseModel):
    instance: str
    words: list[str]


class Simulator(FlowHandler):
    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        reply = yield from Chat("simulator", [user(f"{where.instance}: {effect.question}")], Reply)
        return f"はい、{reply.word}です"


class Toy(Task[Config]):
    """`n` instances; each makes six calls, one after another, two at a time, and nested."""

    system = "toy"

    def __init__(self, n: int = 4, flavour: str = "plain", data_hash: str = "data-1") -> None:
        self.config = Config(n=n, flavour=flavour)
        self.data_hash = data_hash

    def episodes(self) -> Sequence[Where]:
        return [Where(f"i{i}") for i in range(self.config.n)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        memory: list[Any] = []
        world = base.having(
            {
                AskUser: Simulator(),
                Act: lambda act: Observation(text=f"{act.action}", done=True),
                Remember: lambda item: memory.append(item.item),
            }
        )
        return self._flow(where), world

    def _flow(self, where: Where) -> Flow[BaseModel]:
        words = []
        for k in range(2):
            reply = yield from Chat("agent", [system(RULES), user(f"{where.instance} {k}")], Reply)
            words.append(reply.word)
        answer = yield from AskUser(f"{words[-1]}ですか？")
        both = yield from Gather(
            [Chat("judge", [user(f"{where.instance} {part} {answer}")], Reply) for part in "ab"]
        )
        words += [r.word for r in both]
        yield from Remember(words[-1])
        last = yield from Chat("agent", [system(RULES), user(f"{words}")])
        seen = yield from Act(last)
        return Result(instance=where.instance, words=[*words, seen.text])

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        scored = [r for r in rows if r.scored]
        units = [r.where.instance for r in scored]
        hits = [float(int(r.result["words"][0], 16) % 2) for r in scored]  # type: ignore[index,call-overload]
        metric = mean_metric("pass@1", hits, clusters=None, share=True, paired=True)
        undefined = Metric("pass@3", float("nan"), reason="k = 3, but one trial <was> run")
        table = Table("言葉 <b>", ("instance", "words"), tuple((u, "x|y") for u in units))
        notes = ("注意: <script>alert(1)</script>",)
        return Summary((metric, undefined), (table,), notes, {"units": units})

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return [Line(f"ちょっと休憩しようかな <i>{where.instance}</i>", "利用者")]


def answer(chat: Chat[Any]) -> str:
    """What the scripted model says: depends on the messages alone."""
    return hashlib.sha256("".join(m.content for m in chat.messages).encode()).hexdigest()[:8]


def model(
    *,
    latency: float = 0.0,
    record: Callable[[str], None] = lambda line: None,
    fails: Callable[[Where], bool] = lambda where: False,
    usd: float | None = 0.001,
) -> World:
    class Model(Handler):
        async def perform(self, chat: Any, where: Where) -> Performed[Any]:
            await asyncio.sleep(latency * random.uniform(0.2, 1.8))
            used = Usage(chat.role, "scripted:toy", 1, 1, 10, 5, usd)
            if fails(where):
                raise InstrumentFailure(
                    "HTTP 500", Usage(chat.role, "scripted:toy", 0, 3, 7, 0, usd)
                )
            record(f"{where.instance} {where.step}")
            word = answer(chat)
            return Performed(Reply(word=word) if chat.schema else word, used)

    return World({Chat: Model()})


@asynccontextmanager
async def engine_of(name: str, concurrency: int) -> AsyncIterator[Engine]:
    if name == "local":
        yield run_task
        return
    from naisei.runs.cluster import RayEngine, ray_cluster

    async with ray_cluster(name, concurrency=concurrency) as cluster:
        yield RayEngine(cluster)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("calls", type=Path)
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--flavour", default="plain")
    parser.add_argument("--store")
    parser.add_argument("--engine", default="local")
    args = parser.parse_args()
    task = Toy(args.n, args.flavour)
    path = args.calls.absolute()

    def record(line: str) -> None:
        with path.open("a") as calls:
            calls.write(line + "\n")

    async def go(directory: RunDirectory) -> RunOutcome:
        async with engine_of(args.engine, args.concurrency) as engine:
            return await engine(
                task,
                directory,
                model(latency=args.latency, record=record),
                concurrency=args.concurrency,
                budget=Budget(tokens=args.max_tokens),
            )

    with RunDirectory.of(task, args.run_dir, store=args.store) as directory:
        outcome = asyncio.run(go(directory))
        result: RunResult = finish(task, directory, outcome)
    print(result.line())
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main())
