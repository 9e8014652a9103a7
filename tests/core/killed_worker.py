"""A process to be killed: runs a flow over a JSONL log. Run by test_sigkill.py.

    python killed_worker.py FOLDER

FOLDER/log.jsonl holds the events, FOLDER/calls.txt one line for every call begun,
FOLDER/result.json the result once there is one.
"""

import asyncio
import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from naisei.core import (
    Act,
    Chat,
    Event,
    Flow,
    Gather,
    Handler,
    Observation,
    Where,
    World,
    arun,
    user,
)

STEPS, WIDTH = 40, 3


class JsonlLog:
    """One line an event, synced before `append` returns; a torn last line is dropped."""

    def __init__(self, path: Path) -> None:
        whole = (
            [x for x in path.read_bytes().splitlines(True) if x.endswith(b"\n")]
            if (path.exists())
            else []
        )
        path.write_bytes(b"".join(whole))
        self.lines = whole
        self.file = path.open("ab", buffering=0)

    def append(self, event: Event) -> None:
        line = json.dumps(dataclasses.asdict(event)).encode() + b"\n"
        half = len(line) // 2
        self.file.write(line[:half])
        self.file.write(line[half:])
        os.fsync(self.file.fileno())

    def read(self, episode: str) -> Iterator[Event]:
        for line in self.lines:
            data = json.loads(line)
            where = Where(**{**data["where"], "path": tuple(data["where"]["path"])})
            yield Event(**{**data, "where": where, "usage": None})


class Counter(Handler):
    """An environment: counts, and is rebuilt by counting again."""

    def __init__(self, calls: int) -> None:
        self.calls, self.value = calls, 0

    def perform(self, effect: Act, where: Where) -> Observation:
        os.write(self.calls, f"{where.step}\n".encode())
        self.value += len(str(effect.action))
        return Observation(text=str(self.value))

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        self.value += len(str(effect.action))
        assert result.text == str(self.value)


def told(text: str) -> Flow[str]:
    first = yield from Chat("agent", [user(text)])
    return (yield from Chat("agent", [user(first)]))


def flow() -> Flow[list[Any]]:
    out: list[Any] = []
    for n in range(STEPS):
        parts = yield from Gather([told(f"{n}.{i}.{out[-1:]}") for i in range(WIDTH)])
        out += [parts, (yield from Act("".join(parts))).text]
    return out


async def main(folder: Path) -> None:
    calls = os.open(folder / "calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    class Model(Handler):
        async def perform(self, effect: Chat[str], where: Where) -> str:
            os.write(calls, f"{where.step}\n".encode())
            await asyncio.sleep(0.001)
            return str(sum(map(ord, effect.messages[-1].content)) % 9973)

    world = World({Chat: Model(), Act: Counter(calls)})
    result = await arun(flow(), world, log=JsonlLog(folder / "log.jsonl"))
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
