"""Carrying out a run of games in its run directory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import Event, InputError, Sampling
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish
from naisei.textgame.config import GameConfig
from naisei.textgame.engine import ProcessPool
from naisei.textgame.task import GameTask

__all__ = ["Session", "arun_games", "run_games"]


@dataclass(frozen=True, slots=True)
class Session:
    """What may differ from sitting to sitting without changing a result.

    concurrency: games at a time, each with an interpreter process; by default one a core.
    timeout: seconds that an interpreter may take for one answer.
    """

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = os.cpu_count() or 1
    timeout: float = 60.0
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False


async def arun_games(
    config: GameConfig,
    session: Session,
    *,
    run_dir: Path | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> RunResult:
    """Run, or continue, the games of a configuration.

    Raises:
        InputError: unusable games, player, models or directory; nothing is left behind.
    """
    pool = ProcessPool(timeout=session.timeout)
    task = GameTask(config, pool)
    _check_models(task)

    try:
        sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
        async with base_world(
            config.models,
            settings=session.settings,
            sampling_of=sampling_of,
            cache=session.cache,
        ) as world:
            with RunDirectory.of(task, run_dir) as directory:
                outcome = await run_task(
                    task,
                    directory,
                    world,
                    concurrency=session.concurrency,
                    budget=session.budget,
                    progress=progress(quiet=session.quiet),
                    on_event=on_event,
                )
                return finish(task, directory, outcome)
    finally:
        pool.close()


run_games = blocking(arun_games)


def _check_models(task: GameTask) -> None:
    """Raises `InputError` if a role that will be called has no model."""
    for role in task.roles:
        if role not in task.config.models:
            raise InputError(
                say(
                    f"役割 {role} にはモデルが要りますが、指定されていません",
                    f"the {role} needs a model, and none is given",
                ),
                place="--model",
                remedy=say(
                    "--model PROVIDER:NAME (例: --model openai:gpt-5-nano) を付けるか、"
                    "モデルの要らないプレイヤー (--agent planner) を選んでください",
                    "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano, or choose a "
                    "player without one: --agent planner",
                ),
            )
