"""Carrying out runs of clarify: one configuration, or several in one study."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from naisei.clarify.agents.registry import calls_model, is_model_free
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.data import Dataset, load
from naisei.clarify.paraphrases import everyone
from naisei.clarify.session import Session
from naisei.clarify.study import study_tables
from naisei.clarify.task import ClarifyTask
from naisei.core import Event, InputError, Sampling
from naisei.lang import say
from naisei.models.world import base_world
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish
from naisei.runs.task import EpisodeRow, Table

__all__ = ["Study", "arun_config", "load_data", "run_config", "run_study"]


@dataclass(frozen=True, slots=True)
class Study:
    """The results of several configurations, by label, and the tables over them."""

    results: dict[str, RunResult]
    tables: tuple[Table, ...]

    @property
    def exit_code(self) -> int:
        """The first that is not 0: a study that was stopped says so."""
        return next((r.exit_code for r in self.results.values() if r.exit_code), 0)


def load_data(config: ClarifyConfig) -> Dataset:
    """The instances of a configuration. Raises `InputError` for unusable data."""
    return load(
        config.data,
        split=config.split,
        limit=config.limit,
        seed=config.seed,
        actions=config.actions or None,
    )


async def arun_config(
    config: ClarifyConfig,
    session: Session,
    *,
    run_dir: Path | None = None,
    data: Dataset | None = None,
    on_event: Callable[[Event], None] | None = None,
    on_episode: Callable[[EpisodeRow], None] | None = None,
) -> RunResult:
    """Run, or continue, one configuration in its run directory.

    Raises:
        InputError: unusable data, names, models or directory; nothing is left behind.
    """
    data = load_data(config) if data is None else data
    speakers = everyone(
        data,
        config.data,
        split=config.split,
        limit=config.limit,
        seed=config.seed,
        actions=config.actions,
    )
    task = ClarifyTask(config, data, speakers=speakers)
    check_models(config)

    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    async with base_world(
        config.models,
        settings=session.settings,
        sampling_of=sampling_of,
        embedder=config.embedder,
        cache=session.cache,
    ) as world:
        with RunDirectory.of(task, run_dir) as directory:
            audit = asyncio.create_task(task.audit.meanwhile())
            outcome = await run_task(
                task,
                directory,
                world,
                concurrency=session.concurrency,
                budget=session.budget,
                progress=progress(quiet=session.quiet),
                on_event=on_event,
                on_episode=on_episode,
            )
            if audit.done():
                audit.result()  # a crash of it is a crash of the run
            audit.cancel()
            return finish(task, directory, outcome)


run_config = blocking(arun_config)


def run_study(
    configs: Mapping[str, ClarifyConfig], session: Session, *, run_dir: Path, seed: int = 0
) -> Study:
    """Run each configuration in a folder of its own under `run_dir`, then compare them."""
    for config in configs.values():
        check_models(config)
    results: dict[str, RunResult] = {}
    for label, config in configs.items():
        result = run_config(config, session, run_dir=run_dir / _folder(label))
        results[label] = result
        if result.outcome.stopped:
            break
    tables = study_tables({label: r.summary for label, r in results.items()}, seed=seed)
    return Study(results, tables)


def check_models(config: ClarifyConfig) -> None:
    """Raises `InputError` if a role that will be called has no model."""
    needed = []
    if calls_model(config.agent):
        needed.append("agent")
    if config.memory != "none" and not is_model_free(config.agent):
        needed.append("reflector")
    if config.simulator == "llm":
        needed.append("simulator")
    for role in needed:
        if role not in config.models:
            raise InputError(
                say(
                    f"役割 {role} のモデルが指定されていません",
                    f"the {role} needs a model, and none is given",
                ),
                place=f"--{role}-model",
                remedy=say(
                    "--model PROVIDER:NAME を付けるか "
                    "(例: --model openai:gpt-5-nano、--model local:)、"
                    "モデルの要らないエージェントを使ってください: --agent bayes",
                    "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano or --model "
                    "local:, or use an agent without a model: --agent bayes",
                ),
            )


def _folder(label: str) -> str:
    return re.sub(r"[^\w.@-]+", "_", label).strip("_")
