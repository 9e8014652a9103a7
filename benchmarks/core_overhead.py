"""CPU per effect of the engine alone: flow, replay check, log in memory. No I/O, no model.

    python benchmarks/core_overhead.py [--effects 20000]

Prints one line a case in microseconds of CPU per effect, and fails (exit code 1) if any
case needs more than the bar of 1 ms. The last line is JSON.
"""

import argparse
import asyncio
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from naisei.core import (
    AskUser,
    Chat,
    Flow,
    FlowHandler,
    Gather,
    MemoryLog,
    Performed,
    Usage,
    Where,
    World,
    arun,
    run,
    system,
    user,
)

BAR_US = 1000.0
# A prompt of about the size of R-Clarify's: 40 actions, a scene, a memo.
PROMPT = [system("あなたは家庭の支援ロボットです。" * 20), user("行動の候補と状況。" * 250)]
COST = Usage(role="agent", model="none", calls=1, attempts=1, input_tokens=900, output_tokens=40)


class Decision(BaseModel):
    thought: str
    action: int | None = None
    question: str = ""


REPLY = Decision(thought="お茶が飲みたいのかもしれない。" * 4, question="のどが渇きましたか？")


class Simulator(FlowHandler):
    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        return (yield from Chat("simulator", [user(effect.question)]))


def model(effect: Chat[Any]) -> Performed[Any]:
    return Performed(REPLY if effect.schema else "はい", COST)


async def async_model(effect: Chat[Any]) -> Performed[Any]:
    return model(effect)


def chats(n: int) -> Flow[None]:
    for _ in range(n):
        yield from Chat("agent", PROMPT, Decision)


def questions(n: int) -> Flow[None]:
    for i in range(n // 2):
        yield from AskUser(f"質問 {i}")


def gathers(n: int) -> Flow[None]:
    for _ in range(n // 8):
        yield from Gather([Chat("judge", PROMPT, Decision) for _ in range(8)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effects", type=int, default=20000, help="effects per case")
    n = parser.parse_args().effects
    world = World({Chat: model, AskUser: Simulator()})
    concurrent = world.having({Chat: async_model})
    log = MemoryLog()
    cases: dict[str, Callable[[], Any]] = {
        "chat, structured (run)": lambda: run(chats(n), world, log=log),
        "the same, replayed": lambda: run(chats(n), world, log=log),
        "chat, structured (arun)": lambda: asyncio.run(arun(chats(n), concurrent)),
        "gathered by 8 (run)": lambda: run(gathers(n), world),
        "gathered by 8 (arun)": lambda: asyncio.run(arun(gathers(n), concurrent)),
        "question to a simulator that chats": lambda: run(questions(n), world),
    }
    micros = {}
    for name, case in cases.items():
        began = time.process_time()
        case()
        micros[name] = (time.process_time() - began) / n * 1e6
        print(f"{micros[name]:8.1f} µs  {name}", file=sys.stderr)

    class NoLog(MemoryLog):
        def append(self, event: Any) -> None:
            pass

    tracemalloc.start()
    run(chats(n), world, log=NoLog())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"{peak / 1024:8.1f} KiB peak of the engine over {n} effects in one episode",
        file=sys.stderr,
    )
    print(json.dumps({"us_per_effect": micros, "peak_kib": peak / 1024, "bar_us": BAR_US}))
    return int(max(micros.values()) > BAR_US)


if __name__ == "__main__":
    raise SystemExit(main())
