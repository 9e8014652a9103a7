"""Carrying out the evaluation: one tagger, or several on the same folds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError, Sampling
from naisei.emphasis.corpus.store import load_corpus
from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.recipes import LLM
from naisei.emphasis.evaluation.study import study_tables
from naisei.emphasis.evaluation.task import EvalTask
from naisei.emphasis.schemas import Article
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish
from naisei.runs.task import Table

__all__ = ["Session", "Study", "arun_eval", "run_eval", "run_study"]


@dataclass(frozen=True, slots=True)
class Session:
    """What may differ from sitting to sitting without changing a result.

    concurrency: documents at a time where a language model is asked. Training is one at a time.
    """

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = 4
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """The results of several taggers, by label, and the tables over them."""

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
    corpus: Sequence[Article] | None = None,
) -> RunResult:
    """Run, or continue, one tagger.

    Raises:
        InputError: an unusable corpus, tagger, model or directory; nothing is left behind.
    """
    return await _arun(EvalTask(config, corpus), config, session, run_dir)


run_eval = blocking(arun_eval)


def run_study(configs: Mapping[str, EvalConfig], session: Session, *, run_dir: Path) -> Study:
    """Run each tagger in a folder of its own under `run_dir`, then compare them.

    All of them are on one corpus, which is read once.
    """
    first = next(iter(configs.values()))
    corpus = load_corpus(Path(first.corpus))
    # A name that nobody knows is told before the first of them is trained.
    tasks = {label: EvalTask(config, corpus) for label, config in configs.items()}
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
        results[label] = _run(tasks[label], config, session, run_dir / _folder(label))
        if results[label].outcome.stopped:
            break
    rows = {label: r.outcome.rows for label, r in results.items()}
    summaries = {label: r.summary for label, r in results.items()}
    tables = study_tables(summaries, tasks, rows, seed=first.seed)
    return Study(results, tables)


async def _arun(
    task: EvalTask, config: EvalConfig, session: Session, run_dir: Path | None
) -> RunResult:
    llm = config.tagger == LLM
    if llm and "editor" not in config.models:
        raise InputError(
            say("モデルが指定されていません", "the editor needs a model, and none is given"),
            place="--model",
            remedy=say("--model を付けてください", "give --model PROVIDER:NAME"),
        )

    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    async with base_world(
        config.models,
        settings=session.settings,
        sampling_of=sampling_of,
        cache=session.cache,
    ) as world:
        with RunDirectory.of(task, run_dir) as directory:
            task.folder = directory.path / "training"
            outcome = await run_task(
                task,
                directory,
                world,
                concurrency=session.concurrency if llm else 1,
                budget=session.budget,
                progress=progress(quiet=session.quiet),
            )
            return finish(task, directory, outcome)


_run = blocking(_arun)


def _folder(label: str) -> str:
    return re.sub(r"[^\w.@-]+", "_", label).strip("_")
