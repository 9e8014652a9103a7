"""Carrying out the evaluation: one configuration, or several in one study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError, Sampling
from naisei.files import write_atomically
from naisei.intent.evaluation.config import EvalConfig
from naisei.intent.evaluation.study import study_tables
from naisei.intent.evaluation.task import EvalTask
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.retrieval.index import Index
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish
from naisei.runs.tables import to_csv
from naisei.runs.task import EpisodeRow, Table

__all__ = ["Session", "Study", "arun_eval", "run_eval", "run_study"]


@dataclass(frozen=True, slots=True)
class Session:
    """What may differ from sitting to sitting without changing a result."""

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = 4
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """The results of several configurations, by name, and the tables over them."""

    results: dict[str, RunResult]
    tables: tuple[Table, ...]

    @property
    def exit_code(self) -> int:
        """The first that is not 0."""
        return next((r.exit_code for r in self.results.values() if r.exit_code), 0)


async def arun_eval(
    config: EvalConfig,
    session: Session,
    *,
    run_dir: Path | None = None,
    on_episode: Callable[[EpisodeRow], None] | None = None,
) -> RunResult:
    """Run, or continue, one configuration; writes `items.csv` beside the report.

    Raises:
        InputError: unusable items, index, models or directory; nothing is left behind.
    """
    _check_models(config)
    with Index.open(config.index) as index:
        task = EvalTask(config, index)

        sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
        async with base_world(
            config.models,
            settings=session.settings,
            sampling_of=sampling_of,
            cache=session.cache,
            # Rubbish of the evaluator is repaired once; then the rules decide.
            resends_of={"evaluator": 0},
        ) as world:
            with RunDirectory.of(task, run_dir) as directory:
                outcome = await run_task(
                    task,
                    directory,
                    world,
                    concurrency=session.concurrency,
                    budget=session.budget,
                    progress=progress(quiet=session.quiet),
                    on_episode=on_episode,
                )
                result = finish(task, directory, outcome)
                csv = to_csv(task.item_table(outcome.rows))
                write_atomically(directory.path / "items.csv", csv)
                return result


run_eval = blocking(arun_eval)


def run_study(configs: Mapping[str, EvalConfig], session: Session, *, run_dir: Path) -> Study:
    """Run each configuration in a folder of its own under `run_dir`, then compare them."""
    for config in configs.values():
        _check_models(config)
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
        results[label] = run_eval(config, session, run_dir=run_dir / _folder(label))
        if results[label].outcome.stopped:
            break
    seed = next(iter(configs.values())).seed
    tables = study_tables({label: r.summary for label, r in results.items()}, seed=seed)
    return Study(results, tables)


def _check_models(config: EvalConfig) -> None:
    needed = [*sorted(config.rules.roles), *(["simulator"] if config.user == "llm" else [])]
    for role in needed:
        if role not in config.models:
            raise InputError(
                say(
                    f"{role} のモデルが指定されていません",
                    f"the {role} needs a model, and none is given",
                ),
                place=f"--{role}-model",
                remedy=say("--model を付けてください", "give --model PROVIDER:NAME"),
            )


def _folder(label: str) -> str:
    return re.sub(r"[^\w.@-]+", "_", label).strip("_")
