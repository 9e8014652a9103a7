"""A conversation as a task of the run engine: one episode a step, each durable.

What was killed goes on where it stood.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, InputError, InstrumentFailure, Where, World, arun, fingerprint
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.effects import document_world
from naisei.intent.feedback import adjusted, place, read_feedback
from naisei.intent.flow import personal
from naisei.intent.schemas import Reply, Thresholds
from naisei.lang import say
from naisei.models.registry import base_world
from naisei.retrieval.index import Index
from naisei.runs.conversation import recorded
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.result import RunResult
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Metric, Summary, Task
from naisei.system.declare import Experiment, blocking
from naisei.system.execute import RunOptions, execute

#: The episodes of a conversation that `ask --session` and `chat` keep, in its log.
SESSION = "conversation"

#: Where the dialogues of a conversation are kept in its log.
_STEPS = "steps"


def cuts_of(user: str, base: Thresholds) -> Thresholds:
    """What a person's feedback has made of the thresholds."""
    path = place("feedback", user, option="--user", suffix=".jsonl")
    return adjusted(base, read_feedback(path))


class ConversationTask(Task[AssistConfig]):
    """The steps taken so far, and the one to take.

    dialogue: of that one; `None` finishes what was cut off and nothing else. index: opened while
    the steps are taken where it is not given.

    Raises:
        InputError: no index.
    """

    system = "intent"
    concurrency = 1

    def __init__(
        self, config: AssistConfig, dialogue: Dialogue | None = None, *, index: Index | None = None
    ) -> None:
        self.config, self.data_hash = config, ""
        self._index, self._dialogue = index, dialogue
        self._steps: tuple[Dialogue, ...] = ()
        #: As it stands after the run.
        self.conversation = Conversation()
        if config.request:
            with ExitStack() as opened:
                found = index or opened.enter_context(
                    Index.open(config.index, groups=config.groups)
                )
                self.data_hash = fingerprint([config.index, found.generation])

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        steps, dialogue = _steps(directory), self._dialogue
        if dialogue is not None and dialogue not in steps[-1:]:
            steps = [*steps, dialogue]
            directory.log.put(_STEPS, [d.model_dump(mode="json") for d in steps])
        self._steps = tuple(steps)
        with ExitStack() as opened:
            if self._index is None:
                self._index = opened.enter_context(
                    Index.open(self.config.index, groups=self.config.groups)
                )
            yield

    def episodes(self) -> list[Where]:
        return [Where(f"step-{n:04}") for n in range(1, len(self._steps) + 1)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        assert self._index is not None, "steps are taken while the index is open"
        config = self.config
        return _step(config, self._dialogue_of(where), self._index, base)

    def _dialogue_of(self, where: Where) -> Dialogue:
        return self._steps[int(where.instance.removeprefix("step-")) - 1]

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        replies = [Reply.model_validate(row.result) for row in rows if row.scored]
        asked = tuple(float(r.route == "ask") for r in replies)
        doubtful = tuple(float(bool(r.unsupported)) for r in replies if r.evidence)
        return Summary((_share("asked_back", asked), _share("unsupported", doubtful)))

    def shown(self, where: Where, result: JsonValue) -> list[Line]:
        said = " / ".join(self._dialogue_of(where).said)
        return [Line(f"> {said}", mine=True), Line(Reply.model_validate(result).message)]

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        events = chain.from_iterable(recorded(directory.log, SESSION))
        self.conversation = Conversation.told(events, before_the_log(directory))


def _step(
    config: AssistConfig, dialogue: Dialogue, index: Index, base: World
) -> tuple[Flow[BaseModel], World]:
    cuts = config.setting.rules.thresholds
    world = document_world(base, index, mode=config.mode, cuts=lambda user: cuts_of(user, cuts))
    return personal(dialogue, config.setting, user=config.user), world


def _share(name: str, values: tuple[float, ...]) -> Metric:
    """Of one conversation, so without an interval."""
    return mean_metric(name, values, clusters=[""] * len(values), share=True, reason="no such step")


def take_step(
    experiment: Experiment[AssistConfig],
    config: AssistConfig,
    index: Index,
    dialogue: Dialogue | None,
    options: RunOptions,
    *,
    run_dir: Path | None = None,
) -> tuple[Conversation, RunResult]:
    """Take one more step in a run directory, after finishing one that was cut off.

    dialogue: `None` finishes what is under way and nothing else.

    Raises:
        InputError: an unusable model or directory.
        InstrumentFailure: the step failed; the next try begins where it failed.
    """
    task = ConversationTask(config, dialogue, index=index)
    quiet = options.model_copy(update={"quiet": True})
    result = execute(experiment, config, quiet, run_dir=run_dir, task=task)
    failed = [row.failure for row in result.outcome.rows if row.failure and not row.scored]
    if failed:
        raise InstrumentFailure(failed[-1])
    return task.conversation, result


def reply_in_memory(config: AssistConfig, index: Index, dialogue: Dialogue) -> Reply:
    """One step without a run directory: there is no model that could have to be paid twice."""

    async def go() -> Reply:
        async with base_world({}) as base:
            return Reply.model_validate(await arun(*_step(config, dialogue, index, base)))

    return blocking(go)()


def before_the_log(directory: RunDirectory) -> Conversation:
    """What a conversation goes on from: the steps that were taken as episodes of their own."""
    steps = _steps(directory)
    rows = directory.log.rows()
    replies = []
    for n in range(1, len(steps) + 1):
        row = next((r for r in rows.values() if r.where.instance == f"step-{n:04}"), None)
        if row is None or not row.scored:
            break
        replies.append(Reply.model_validate(row.result))
    return Conversation(steps=tuple(steps), replies=tuple(replies))


def _steps(directory: RunDirectory) -> list[Dialogue]:
    kept = directory.log.get(_STEPS)
    if kept is None:
        return []
    if not isinstance(kept, list):
        raise InputError(
            say("案内係の会話の記録ではありません", "no conversation of the assistant"),
            place=str(directory.path),
        )
    return [Dialogue.model_validate(d) for d in kept]


def request_digest(dialogue: Dialogue) -> str:
    """Tells single requests apart, so that the same one finds its run again."""
    return fingerprint(dialogue.model_dump(mode="json"))
