"""Studies: their runs, one after another in this process or all at once on a cluster; their
tables."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naisei.core import InputError
from naisei.runs.task import Summary, Table
from naisei.system.config import Config
from naisei.system.declare import Experiment, blocking
from naisei.system.execute import SEED, RunOptions, Study, aexecute, execute
from naisei.system.spelled import as_command

if TYPE_CHECKING:
    from naisei.runs.frozen import Frozen
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


async def _aside_by_side(
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


#: `_aside_by_side` for callers that do not await.
side_by_side = blocking(_aside_by_side)


def study_tables(study: Study) -> Sequence[Table]:
    """Each defined metric with its interval, a configuration a row; then paired differences.

    The differences are those of `naisei runs compare`: bootstrap intervals and sign-flip
    permutation tests on the units that both have scored, p-values by Holm over the table.
    """
    from naisei.runs.compare import compare, side_by_side

    by_row = study.metrics
    names = dict.fromkeys(n for metrics in by_row.values() for n in metrics)
    defined = [
        n for n in names if any(n in m and m[n].value == m[n].value for m in by_row.values())
    ]
    counts = {label: result.outcome.scored for label, result in study.results.items()}
    differences: list[Table] = []
    note = ""
    if len(study.results) > 1:
        paths = [r.run_dir for r in study.results.values()]
        try:
            found = compare(paths, seed=study.seed, against_first=True, names=list(study.results))
            differences.append(found.table())
        except InputError as error:
            note = error.message  # why there are no differences is said under the table
    return [side_by_side("Results", by_row, defined, counts=counts, note=note), *differences]


def seed_tables(study: Study, names_first: tuple[str, ...]) -> tuple[Table, ...]:
    """What each configuration comes to over its seeds; nothing where there is one seed.

    names_first: of the metric that stands for a run (`Experiment.headline`), which comes first.
    """
    from naisei.runs.overview import headline
    from naisei.runs.pooling import pooled_tables

    rows: dict[str, dict[int, Summary]] = {}
    for label, summary in study.summaries.items():
        named, _, seed = label.rpartition(f" {SEED}")
        rows.setdefault(named or label, {})[int(seed) if named else 0] = summary
    if all(len(seeds) < 2 for seeds in rows.values()):
        return ()
    names = dict.fromkeys(m.name for s in study.summaries.values() for m in s.metrics)
    stands = headline(next(iter(study.summaries.values())), names_first)
    first = [] if stands is None else [stands.name]
    return pooled_tables(rows, [*first, *(n for n in names if n not in first)], study.seed)


#: What a study is over, of a configuration: key of the table → path of the field.
_FIELDS = {
    "data": ("data", "corpus", "games", "personas"),
    "split": ("split",),
    "limit": ("limit",),
    "alpha": ("alpha",),
    "trials": ("trials", "rules.trials", "tries"),
    "seeds": ("seed",),
}


def conditions(runs: Mapping[str, Frozen]) -> dict[str, str]:
    """What the runs of a study are over: models, data and their digest, split, alpha, trials,
    seeds, version, and the command of each; values that differ stand side by side."""
    found: dict[str, list[str]] = {}
    for run in runs.values():
        models = run.config.get("models")
        for role, model in models.items() if isinstance(models, dict) else ():
            found.setdefault(f"model of {role}", []).append(str(model))
        for key, paths in _FIELDS.items():
            values = (_at(run.config, path) for path in paths)
            value = next((v for v in values if v not in (None, "")), None)
            if key == "split" and "split" in run.config:
                value = value or "default"
            if value is not None:
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                found.setdefault(key, []).append(text)
        found.setdefault("digest of the data", []).append(run.data_hash[:12])
        found.setdefault("naisei", []).append(run.naisei)
    out = {key: ", ".join(dict.fromkeys(values)) for key, values in found.items()}
    for label, run in runs.items():
        if command := as_command(run.system, run.config):
            out[f"command of {label}"] = command
    return out


def _at(config: Mapping[str, Any], path: str) -> Any:
    found: Any = config
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
