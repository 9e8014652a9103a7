"""The runs of a study: one after another in this process, or all at once on a cluster."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naisei.system.config import Config
from naisei.system.declare import Experiment, blocking
from naisei.system.execute import RunOptions, aexecute, execute

if TYPE_CHECKING:
    from naisei.runs.result import RunResult
    from naisei.runs.task import Task

C = TypeVar("C", bound=Config)


def one_by_one(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions,
    folders: Mapping[str, Path],
    tasks: Mapping[str, Task[Any]],
    before: Callable[[str], None] | None,
) -> dict[str, RunResult]:
    """Each configuration in turn, until one is stopped."""
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
        if before is not None:
            before(label)
        results[label] = execute(
            experiment, config, options, run_dir=folders[label], task=tasks[label]
        )
        if results[label].outcome.stopped:
            break
    return results


async def aside_by_side(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions,
    folders: Mapping[str, Path],
    tasks: Mapping[str, Task[Any]],
    before: Callable[[str], None] | None,
) -> dict[str, RunResult]:
    """All configurations at once on one cluster, in their order."""
    from naisei.runs.cluster import ray_cluster

    quiet = options.model_copy(update={"quiet": True})
    concurrency = options.concurrency or experiment.concurrency or os.cpu_count() or 1
    runs: dict[str, asyncio.Task[RunResult]] = {}
    async with (
        ray_cluster(options.engine, concurrency=concurrency) as cluster,
        asyncio.TaskGroup() as together,
    ):
        for label, config in configs.items():
            if before is not None:
                before(label)
            runs[label] = together.create_task(
                aexecute(
                    experiment,
                    config,
                    quiet,
                    run_dir=folders[label],
                    task=tasks[label],
                    cluster=cluster,
                )
            )
    return {label: run.result() for label, run in runs.items()}


#: `aside_by_side` for callers that do not await.
side_by_side = blocking(aside_by_side)
