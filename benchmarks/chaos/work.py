"""The run that is disturbed: the toy task of the tests, three roles, against an endpoint.

    python benchmarks/chaos/work.py RUN_DIR URL [--n N] [--store URL] [--engine ray]
        [--clock SEED] [--file-size BYTES]

Ends as commands of naisei do, but for the traceback of an unexpected error, which is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import random
import resource
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "runs")]

from toy import Toy  # noqa: E402

from naisei.cli.errors import exit_code, report  # noqa: E402
from naisei.core import Chat, World  # noqa: E402
from naisei.models.base import ModelSettings  # noqa: E402
from naisei.models.gateway import Gateway  # noqa: E402
from naisei.models.pacing import RetryPolicy  # noqa: E402
from naisei.models.registry import open_roles  # noqa: E402
from naisei.runs.directory import RunDirectory  # noqa: E402
from naisei.runs.engine import RunOutcome, run_task  # noqa: E402
from naisei.runs.result import finish  # noqa: E402

CONCURRENCY = 8
_ROLES = ("agent", "simulator", "judge")
_DECADE = 10 * 365 * 24 * 3600


@asynccontextmanager
async def world(url: str, throttle: Any = None) -> AsyncIterator[World]:
    models = dict.fromkeys(_ROLES, f"openai-compatible:test@{url}")
    patience = RetryPolicy(attempts=8, first_wait=0.01, longest_wait=0.1)
    roles = open_roles(None, models, settings=ModelSettings(timeout=20.0))
    gateway = Gateway(roles, patience=patience, throttle=throttle)
    try:
        yield World({Chat: gateway})
    finally:
        await gateway.aclose()


def jump(seed: int) -> None:
    """From here on, the clock of the day jumps years to and fro at any look at it."""
    rng, true, moved = random.Random(seed), time.time, 0.0

    def now() -> float:
        nonlocal moved
        if rng.random() < 0.2:
            moved = rng.uniform(-_DECADE, _DECADE)
        return true() + moved

    class Jumping(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return dt.datetime.fromtimestamp(now(), tz)

    time.time = now
    time.time_ns = lambda: int(now() * 1e9)
    for name, module in [*sys.modules.items()]:
        if name.startswith("naisei") and getattr(module, "datetime", None) is dt.datetime:
            module.datetime = Jumping  # type: ignore[attr-defined]


async def _run(task: Toy, directory: RunDirectory, url: str, engine: str) -> RunOutcome:
    async with world(url) as base:
        if engine == "local":
            return await run_task(task, directory, base, concurrency=CONCURRENCY)
        from naisei.runs.cluster import RayEngine, ray_cluster

        async with ray_cluster(engine, concurrency=CONCURRENCY) as cluster:
            elsewhere = RayEngine(cluster, partial(Toy, task.config.n), partial(world, url))
            return await elsewhere(task, directory, base, concurrency=CONCURRENCY)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("url")
    parser.add_argument("--n", type=int, default=12)
    parser.add_argument("--store")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--clock", type=int)
    parser.add_argument("--file-size", type=int)
    given = parser.parse_args()
    if given.clock is not None:
        jump(given.clock)
    if given.file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_size, given.file_size))
    task = Toy(given.n)
    try:
        with RunDirectory.of(task, given.run_dir, store=given.store) as directory:
            outcome = asyncio.run(_run(task, directory, given.url, given.engine))
            return finish(task, directory, outcome).exit_code
    except Exception as error:
        if exit_code(error) == 1:
            raise
        return report(error)


if __name__ == "__main__":
    sys.exit(main())
