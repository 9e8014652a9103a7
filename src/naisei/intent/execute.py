"""Carrying out steps: in memory, or in a run directory where they must survive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError, InstrumentFailure, Sampling, arun, fingerprint
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Reply
from naisei.intent.sitting import Standing
from naisei.intent.task import StepsTask
from naisei.lang import say
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.retrieval.index import Index
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.loops import blocking
from naisei.runs.result import RunResult, finish

__all__ = ["Session", "in_directory", "in_memory", "request_digest", "standing_of"]

#: Rubbish of a model is repaired once; then the rules take over.
_RESENDS = {"evaluator": 0, "rewriter": 0, "answerer": 0}
#: Where a sitting's dialogues are kept in its log.
_STEPS = "steps"


@dataclass(frozen=True, slots=True)
class Session:
    """What may differ from sitting to sitting without changing a reply."""

    settings: ModelSettings = field(default_factory=ModelSettings)
    budget: Budget = UNBOUNDED
    cache: Path | None = None


def in_memory(config: AssistConfig, index: Index, dialogue: Dialogue, session: Session) -> Reply:
    """One step that nobody logs: there is no model that could have to be paid twice."""
    task = StepsTask(config, index, [dialogue], "")

    async def go() -> Reply:
        async with _world(config, session) as base:
            flow, world = task.start(task.episodes()[0], base)
            return Reply.model_validate(await arun(flow, world))

    return blocking(go)()


def in_directory(
    config: AssistConfig,
    index: Index,
    dialogue: Dialogue | None,
    session: Session,
    *,
    run_dir: Path | None = None,
    data_hash: str = "",
) -> tuple[Standing, RunResult]:
    """Take one more step in a run directory, after finishing one that was cut off.

    dialogue: `None` finishes what is under way and nothing else.

    Raises:
        InputError: an unusable model or directory.
        InstrumentFailure: the step failed; the next try begins where it failed.
    """
    bare = StepsTask(config, index, (), data_hash)

    async def go() -> tuple[Standing, RunResult]:
        async with _world(config, session) as base:
            with RunDirectory.of(bare, run_dir) as directory:
                steps = _steps(directory)
                if dialogue is not None and dialogue not in steps[-1:]:
                    steps = [*steps, dialogue]
                    directory.log.put(_STEPS, [d.model_dump(mode="json") for d in steps])
                task = StepsTask(config, index, steps, data_hash)
                outcome = await run_task(
                    task, directory, base, concurrency=1, budget=session.budget
                )
                result = finish(task, directory, outcome)
                return _standing(steps, directory), result

    standing, result = blocking(go)()
    failed = [row.failure for row in result.outcome.rows if row.failure and not row.scored]
    if failed:
        raise InstrumentFailure(failed[-1])
    return standing, result


def standing_of(path: Path) -> Standing:
    """What stands in a run directory; nothing if there is none."""
    if not (path / "config.json").exists():
        return Standing()
    with RunDirectory.look(path) as directory:
        return _standing(_steps(directory), directory)


def _steps(directory: RunDirectory) -> list[Dialogue]:
    kept = directory.log.get(_STEPS)
    if kept is None:
        return []
    if not isinstance(kept, list):
        raise InputError(
            say("案内係の会話の記録ではありません", "no sitting of the assistant"),
            place=str(directory.path),
        )
    return [Dialogue.model_validate(d) for d in kept]


def _standing(steps: Sequence[Dialogue], directory: RunDirectory) -> Standing:
    rows = directory.log.rows()
    replies = []
    for n in range(1, len(steps) + 1):
        row = next((r for r in rows.values() if r.where.instance == f"step-{n:04}"), None)
        if row is None or not row.scored:
            break
        replies.append(Reply.model_validate(row.result))
    return Standing(steps=tuple(steps), replies=tuple(replies))


def request_digest(dialogue: Dialogue) -> str:
    """Tells single requests apart, so that the same one finds its run again."""
    return fingerprint(dialogue.model_dump(mode="json"))


def _world(config: AssistConfig, session: Session):  # type: ignore[no-untyped-def]
    sampling_of = {role: Sampling(**given) for role, given in config.sampling.items()}  # type: ignore[arg-type]
    return base_world(
        config.models,
        settings=session.settings,
        sampling_of=sampling_of,
        cache=session.cache,
        resends_of=_RESENDS,
    )
