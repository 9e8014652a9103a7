"""Carrying out a run of conversations in its run directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import Event, InputError, Sampling
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.exports import export
from naisei.relationship.task import ConversationTask
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish

__all__ = ["Sitting", "ahold", "check_models", "hold"]


@dataclass(frozen=True, slots=True)
class Sitting:
    """What may differ from sitting to sitting without changing a result."""

    settings: ModelSettings = field(default_factory=ModelSettings)
    concurrency: int = 16
    budget: Budget = UNBOUNDED
    cache: Path | None = None
    quiet: bool = False


async def ahold(
    config: RelationshipConfig,
    sitting: Sitting,
    *,
    run_dir: Path | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> RunResult:
    """Hold, or go on with, the conversations of a configuration, and export their files.

    Raises:
        InputError: unusable personas, models or directory; nothing is left behind.
    """
    task = ConversationTask(config)
    check_models(config)

    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    async with base_world(
        config.models,
        settings=sitting.settings,
        sampling_of=sampling_of,
        embedder=config.embedder,
        cache=sitting.cache,
        # What is malformed is asked for once more, then counts as a failed reading.
        resends_of={"questioner": 0, "reflector": 0, "summariser": 0, "rater": 0},
    ) as world:
        with RunDirectory.of(task, run_dir) as directory:
            outcome = await run_task(
                task,
                directory,
                world,
                concurrency=sitting.concurrency,
                budget=sitting.budget,
                progress=progress(quiet=sitting.quiet),
                on_event=on_event,
            )
            result = finish(task, directory, outcome)
            export(directory, task=task)
            return result


hold = blocking(ahold)


def check_models(config: RelationshipConfig) -> None:
    """Raises `InputError` if a role that will be asked has no model."""
    for role in config.needed:
        if role not in config.models:
            raise InputError(
                say(f"{role} のモデルが指定されていません", f"no model is given for the {role}"),
                place="--model",
                remedy=say(
                    "--model PROVIDER:NAME を付ける。例: --model openai:gpt-5-nano、"
                    "--model local: (組み込み。先に naisei models pull)、"
                    "--model scripted:FILE。環境変数 NAISEI_MODEL でもよい。"
                    "モデルなしで試すには naisei relationship demo",
                    "give --model PROVIDER:NAME, e.g. --model openai:gpt-5-nano, --model local: "
                    "(embedded; naisei models pull first) or --model scripted:FILE; the variable "
                    "NAISEI_MODEL does, too. Without a model: naisei relationship demo",
                ),
            )
