"""A log of a million events, and ten thousand runs, made by rule: how long they take to open, to
show and to list, and what memory that needs.

    python -m benchmarks.large_log [--events 1000000] [--runs 10000] [--folder DIR]

A run of 50 events an episode is made in the folder (kept, and used again) by appending to its log.
Each command then runs in a process of its own, beside the same on a run of a hundredth of the
events. Prints, as one line of JSON, of each: seconds of wall clock and peak memory (MB, 10⁶ bytes),
and how many times those of the small run they are; and of the list of runs, seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import Chat, Event, Flow, Usage, Where, World, system, user
from naisei.core.events import plain
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.listing import LIST, find_runs, runs
from naisei.runs.task import EpisodeRow, Summary, Task

IN_EPISODE = 50
PROMPT = "あなたは家の助手です。必ず短く答えてください。" * 40


class Config(BaseModel):
    events: int
    number: int = 0


class ByRule(Task[Config]):
    """A run whose events are made, not performed."""

    system = "benchmark"
    data_hash = "by rule"

    def __init__(self, events: int, number: int = 0) -> None:
        self.config = Config(events=events, number=number)

    def episodes(self) -> Sequence[Where]:
        return [Where(f"i{n:06}") for n in range(self.config.events // IN_EPISODE)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        raise NotImplementedError

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return Summary(())

    def shown(self, where: Where, result: JsonValue) -> list[Line]:
        return [Line(str(result))]


def make(path: Path, events: int) -> float:
    """A run of so many events in a directory; seconds that it took, 0 if it was there."""
    began = time.perf_counter()
    task = ByRule(events)
    with RunDirectory.of(task, path) as directory:
        if directory.log.counts()[2] >= events:
            return 0.0
        for where in task.episodes():
            for step in range(IN_EPISODE):
                question = user(f"{where.instance} の {step} 番目の質問です")
                asked = plain(Chat("agent", [system(PROMPT), question]).request())
                used = Usage("agent", "m", 1, 1, 400, 12, 0.0001)
                at = where.at(step)
                directory.log.append(
                    Event(at, "chat", "d" * 16, asked, f"答え {step}", None, used, 0.1)
                )
            directory.log.finish(EpisodeRow(where, {"correct": True}))
    return time.perf_counter() - began


def measured(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds and peak memory in MB of a process. Raises `RuntimeError` if it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(errors)
    return time.perf_counter() - began, used.ru_maxrss * 1024 / 1e6


def commands(run: str, events: int) -> dict[str, list[str]]:
    naisei = [sys.executable, "-m", "naisei"]
    opens = (
        "from pathlib import Path; from naisei.runs.directory import RunDirectory; "
        "from benchmarks.large_log import ByRule; "
    )
    last = f"i{events // IN_EPISODE - 1:06}"
    return {
        "start": [sys.executable, "-c", opens],
        "read": [sys.executable, "-c", f"{opens}RunDirectory.look(Path('{run}')).close()"],
        "resume": [
            sys.executable,
            "-c",
            f"{opens}d = RunDirectory.of(ByRule({events}), Path('{run}')); d.log.rows(); d.close()",
        ],
        "runs show": [*naisei, "runs", "show", run],
        "runs show --episode": [*naisei, "runs", "show", run, "--episode", last],
        "runs check": [*naisei, "runs", "check", run],
    }


def listed(folder: Path, count: int) -> dict[str, float]:
    """Seconds to list so many runs in this process: with a look at each log, with the list that was
    kept then, and their configurations alone without such a list."""
    make(folder / "run-0", IN_EPISODE)
    for number in range(1, count):
        if not (copy := folder / f"run-{number}").exists():
            shutil.copytree(folder / "run-0", copy)
    took = {}
    (folder / LIST).unlink(missing_ok=True)
    for name, look in (("without logs", find_runs), ("first time", runs), ("again", runs)):
        began = time.perf_counter()
        assert len(look(folder)) == count
        took[name] = round(time.perf_counter() - began, 2)
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        few = given.events // 100
        told: dict[str, Any] = {"events": given.events}
        told["seconds to append"] = round(make(folder / "large", given.events), 1)
        make(folder / "small", few)
        large, small = commands("large", given.events), commands("small", few)
        for name in large:
            seconds, peak = measured(large[name], folder)
            short, low = measured(small[name], folder)
            told[name] = {
                "seconds": round(seconds, 2),
                "times": round(seconds / short, 2),
                "MB": round(peak),
                "times MB": round(peak / low, 2),
            }
        told[f"list of {given.runs} runs"] = listed(folder / "list", given.runs)
        print(json.dumps(told))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
