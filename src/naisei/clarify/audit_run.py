"""`naisei clarify audit` on the run engine: logged, resumable, within budgets."""

from __future__ import annotations

from pathlib import Path

from naisei.clarify.audit.task import AuditConfig, AuditTask
from naisei.clarify.data import load
from naisei.clarify.paraphrases import Paraphrases, data_hash, everyone
from naisei.clarify.session import Session
from naisei.core import InputError, Sampling
from naisei.lang import say
from naisei.models.world import base_world
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.frozen import Frozen
from naisei.runs.loops import blocking
from naisei.runs.progress import progress
from naisei.runs.result import RunResult, finish

__all__ = ["arun_audit", "resume_audit", "run_audit"]


async def arun_audit(
    config: AuditConfig, session: Session, *, run_dir: Path | None = None
) -> RunResult:
    """Audit a simulator on data.

    Raises:
        InputError: unusable data, an unknown simulator, or no model for one that needs it.
    """
    if config.simulator == "llm" and "simulator" not in config.models:
        raise InputError(
            say("ユーザー役 llm にはモデルが要ります", "the llm simulator needs a model"),
            place="--simulator-model",
            remedy=say(
                "--model PROVIDER:NAME を付けるか、--simulator rule を検査してください",
                "give --model PROVIDER:NAME, or audit --simulator rule",
            ),
        )
    data = load(config.data, split=config.split, limit=config.limit, seed=config.seed)
    speakers = everyone(
        data, config.data, split=config.split, limit=config.limit, seed=config.seed, actions=""
    )
    task = AuditTask(
        config,
        data.instances,
        data.actions,
        data_hash=data_hash(data, speakers),
        paraphrases=Paraphrases(speakers.instances),
    )

    sampling_of = {r: Sampling(**given) for r, given in config.sampling.items()}  # type: ignore[arg-type]
    async with base_world(
        config.models, settings=session.settings, sampling_of=sampling_of, cache=session.cache
    ) as world:
        with RunDirectory.of(task, run_dir) as directory:
            outcome = await run_task(
                task,
                directory,
                world,
                concurrency=session.concurrency,
                budget=session.budget,
                progress=progress(quiet=session.quiet),
            )
            return finish(task, directory, outcome)


run_audit = blocking(arun_audit)


def resume_audit(path: Path, session: Session) -> RunResult:
    """Continue the audit in `path`."""
    config = AuditConfig.model_validate(Frozen.read(path / "config.json").config)
    return run_audit(config, session, run_dir=path)
