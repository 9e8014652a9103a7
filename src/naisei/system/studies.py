"""Studies: their runs, one after another in this process or all at once on a cluster; their
tables."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naisei.core import InputError
from naisei.runs.task import Table
from naisei.system.config import Config
from naisei.system.declare import Experiment, blocking
from naisei.system.execute import RunOptions, Study, aexecute, execute

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
) -> dict[str, RunResult]:
    """Each configuration in turn, until one is stopped."""
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
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


def study_tables(study: Study) -> Sequence[Table]:
    """Each defined metric with its interval, a configuration a row; then paired differences.

    The differences are those of `naisei runs compare`: bootstrap intervals and sign-flip
    permutation tests on the units that both have scored, p-values by Holm over the table.
    """
    from naisei.runs.compare import compare

    by_row = {k: {m.name: m for m in r.summary.metrics} for k, r in study.results.items()}
    names = dict.fromkeys(n for metrics in by_row.values() for n in metrics)
    defined = [
        n for n in names if any(n in m and m[n].value == m[n].value for m in by_row.values())
    ]
    columns = ["configuration", *(c for n in defined for c in (n, f"{n} low", f"{n} high")), "n"]
    rows = []
    for label, metrics in by_row.items():
        line: list[str | float | int] = [label]
        for name in defined:
            m = metrics.get(name)
            nan = float("nan")
            line += [m.value, m.low, m.high] if m is not None else [nan, nan, nan]
        rows.append((*line, study.results[label].outcome.scored))
    differences: list[Table] = []
    note = ""
    if len(study.results) > 1:
        paths = [r.run_dir for r in study.results.values()]
        seed = next(iter(study.configs.values())).seed
        try:
            found = compare(paths, seed=seed, against_first=True, names=list(study.results))
            differences.append(found.table())
        except InputError as error:
            note = error.message  # why there are no differences is said under the table
    return [Table("Results", tuple(columns), tuple(rows), note=note), *differences]
