"""Studies, which compare several configurations: their runs, sequential in this process or
concurrent on a cluster, and their tables."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.task import Metric, Summary, Table
from naisei.system.config import SEED, Config
from naisei.system.declare import Experiment, blocking
from naisei.system.execute import RunOptions, aexecute, check_models, execute
from naisei.system.sampling import completed
from naisei.system.spelled import as_command

if TYPE_CHECKING:
    from naisei.runs.compare import LoadedRun
    from naisei.runs.export import Frame, Library
    from naisei.runs.frozen import Frozen
    from naisei.runs.result import RunResult
    from naisei.runs.task import Task

C = TypeVar("C", bound=Config)


@dataclass(frozen=True, slots=True)
class Study:
    """A comparison of several configurations: results and folders by label, and tables."""

    configs: Mapping[str, Any]
    results: dict[str, RunResult]
    path: Path
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code of a stopped run, else that of a run without scored episodes."""
        codes = {result.exit_code for result in self.results.values()}
        return next((code for code in (130, 3, 4) if code in codes), 0)

    @property
    def summaries(self) -> dict[str, Summary]:
        """Label → summary."""
        return {label: result.summary for label, result in self.results.items()}

    @property
    def metrics(self) -> dict[str, dict[str, Metric]]:
        """Label → name → metric."""
        return {label: {m.name: m for m in s.metrics} for label, s in self.summaries.items()}

    @property
    def seed(self) -> int:
        """The first configuration's seed, used for tests between configurations."""
        return int(next(iter(self.configs.values())).seed)

    def frame(self, *, each: str | None = None) -> Frame:
        """Return one row per trial of every configuration; see `naisei.runs.export.frame`."""
        from naisei.runs.export import frame

        return frame(self.path, each=each)

    def to_dataframe(self, library: Library = "pandas", *, each: str | None = None) -> Any:
        """Return `frame` as a `pandas.DataFrame` or a `polars.DataFrame` (extra `frames`)."""
        return self.frame(each=each).to_dataframe(library)

    def _repr_html_(self) -> str:
        from naisei.runs.export import tables_html

        return tables_html(self.tables, self.notes)


def execute_study(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions = RunOptions(),
    *,
    title: str,
    run_dir: Path | None = None,
) -> Study:
    """Run each configuration in its own folder under `run_dir`, then compare them.

    Writes `study.html`, `study.md` and one CSV file per table into `run_dir`.

    Args:
        title: title of the study, such as `clarify ablate`; it names the default directory.
    """
    from naisei.runs.frozen import Frozen, named_path, tell_changes
    from naisei.runs.report import write_study

    if run_dir is not None and (run_dir / "config.json").exists():
        raise InputError(
            say("1 つの実行のディレクトリです", "is the directory of a single run"),
            place=str(run_dir),
            remedy=say(
                "比較には別の --run-dir を指定してください", "give another --run-dir to a study"
            ),
        )
    for config in configs.values():
        check_models(experiment, config, options.engine)
    configs = {label: completed(experiment, config) for label, config in configs.items()}
    tasks = {label: experiment.load(config) for label, config in configs.items()}
    if run_dir is None:
        frozen = {label: Frozen.of(task) for label, task in tasks.items()}
        run_dir = named_path(title.replace(" ", "-"), [*frozen.values()])
        if not run_dir.exists():
            label, first = next(iter(frozen.items()))
            tell_changes(run_dir, first, folder_of(label))
    carry_out = _one_by_one if options.engine == "local" else _side_by_side
    folders = {label: run_dir / folder_of(label) for label in configs}
    results = carry_out(experiment, configs, options, folders, tasks)
    study = Study(configs, results, run_dir)
    tables = tables_of(study, experiment)
    if experiment.tables and len({config.seed for config in configs.values()}) == 1:
        tables += tuple(experiment.tables(study))
    notes = tuple(dict.fromkeys(n for r in results.values() for n in r.summary.notes))
    links = {k: str(r.report.resolve().relative_to(run_dir.resolve())) for k, r in results.items()}
    told = conditions({label: Frozen.of(task) for label, task in tasks.items()})
    write_study(run_dir, f"naisei {title}", tables, runs=links, notes=notes, conditions=told)
    return Study(configs, results, run_dir, tables, notes)


def folder_of(label: str) -> str:
    """Return the folder name of a configuration within its study."""
    return re.sub(r"[^\w.@-]+", "_", label).strip("_")


def _one_by_one(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions,
    folders: Mapping[str, Path],
    tasks: Mapping[str, Task[Any]],
) -> dict[str, RunResult]:
    """Run the configurations sequentially, until one is stopped."""
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
        results[label] = execute(
            experiment, config, options, run_dir=folders[label], task=tasks[label]
        )
        if results[label].outcome.stopped:
            break
    return results


async def _arun_concurrently(
    experiment: Experiment[C],
    configs: Mapping[str, C],
    options: RunOptions,
    folders: Mapping[str, Path],
    tasks: Mapping[str, Task[Any]],
) -> dict[str, RunResult]:
    """Run all configurations concurrently on one cluster; results are in their order."""
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


#: Blocking version of `_arun_concurrently`.
_side_by_side = blocking(_arun_concurrently)


def tables_of(study: Study, experiment: Experiment[Any]) -> tuple[Table, ...]:
    """Return the standard tables of a study: the experiment's metrics (or all), the headline metric
    first. A configuration under several seeds is one row."""
    from naisei.runs.compare import in_columns
    from naisei.runs.overview import headline
    from naisei.runs.pooling import study_tables

    rows: dict[str, dict[int, Summary]] = {}
    for label, summary in study.summaries.items():
        named, _, seed = label.rpartition(f" {SEED}")
        rows.setdefault(named or label, {})[int(seed) if named else 0] = summary
    names = list(dict.fromkeys(m.name for s in study.summaries.values() for m in s.metrics))
    stands = headline(next(iter(study.summaries.values())), experiment.headline)
    columns = experiment.columns
    if columns:
        names = in_columns(names, columns)
    first = [] if stands is None else [stands.name]
    return study_tables(rows, list(dict.fromkeys([*first, *names])), study.seed)


def headline_name(run: LoadedRun) -> str:
    """Return the name of the headline metric; empty if there is none."""
    from naisei.runs.overview import headline
    from naisei.system.registry import declared

    experiment = declared(run.frozen.system, run.frozen.config)
    found = headline(run.stored.summary, experiment.headline if experiment else ())
    return found.name if found else ""


def conditions(runs: Mapping[str, Frozen]) -> dict[str, str]:
    """Return the conditions of a study's runs: models, all settings, the data digest, the version
    and the command of each; differing values are listed together."""
    from naisei.runs.frozen import flattened

    found: dict[str, list[str]] = {}
    for run in runs.values():
        models = run.config.get("models")
        for role, model in models.items() if isinstance(models, dict) else ():
            found.setdefault(f"model of {role}", []).append(str(model))
        for key, value in flattened(run.config):
            if key.partition(".")[0] in ("models", "sampling", "task") or value in (None, {}, []):
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found.setdefault(key.removeprefix("rules."), []).append(text or "default")
        found.setdefault("digest of the data", []).append(run.data_hash[:12])
        found.setdefault("naisei", []).append(run.naisei)
    out = {key: ", ".join(dict.fromkeys(values)) for key, values in found.items()}
    for label, run in runs.items():
        if command := as_command(run.system, run.config):
            out[f"command of {label}"] = command
    return out
