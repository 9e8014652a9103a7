"""Carrying out a run of talks in its run directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import Event, InputError, Sampling
from naisei.director.config import TalkConfig
from naisei.director.task import TalkTask
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish

__all__ = ["Session", "arun_talks", "check_models", "run_talks"]


@dataclass(frozen=True, slots=True)
class Session:
    """What may differ from sitting to sitting without changing a result."""

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = 16
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False


async def arun_talks(
    config: TalkConfig,
    session: Session,
    *,
    run_dir: Path | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> RunResult:
    """Run, or continue, the talks of a configuration.

    Raises:
        InputError: unusable characters, models or directory; nothing is left behind.
    """
    check_models(config)
    task = TalkTask(config)

    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    async with base_world(
        config.models,
        settings=session.settings,
        sampling_of=sampling_of,
        cache=session.cache,
        # Rubbish of a judge is repaired once; then the rules decide alone (§7).
        resends_of={"judge": 0},
    ) as world:
        with RunDirectory.of(task, run_dir) as directory:
            outcome = await run_task(
                task,
                directory,
                world,
                # A person answers one question at a time.
                concurrency=1 if config.rules.policy == "person" else session.concurrency,
                budget=session.budget,
                progress=progress(quiet=session.quiet),
                on_event=on_event,
            )
            return finish(task, directory, outcome)


run_talks = blocking(arun_talks)


def check_models(config: TalkConfig) -> None:
    """Raises `InputError` if a role that will be called has no model."""
    needed = ["speaker", *(["judge"] if config.rules.judging is not None else [])]
    for role in needed:
        if role not in config.models:
            raise InputError(
                say(
                    f"役割 {role} のモデルが指定されていません",
                    f"the {role} needs a model, and none is given",
                ),
                place=f"--{role}-model",
                remedy=say(
                    "--model PROVIDER:NAME を付けてください (例: --model openai:gpt-5-nano、"
                    "--model local: (組み込み)、--model scripted:FILE)"
                    + ("。--no-judge でもかまいません" if role == "judge" else ""),
                    "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano, --model "
                    "local: (embedded) or --model scripted:FILE"
                    + (", or --no-judge" if role == "judge" else ""),
                ),
            )
