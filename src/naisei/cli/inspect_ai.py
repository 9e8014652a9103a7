"""Inspect AI: our systems as Inspect tasks, and runs as Inspect logs. Needs `inspect-ai` (extra
`bench`).

    inspect eval naisei/clarify --model openai/gpt-5-nano -T agent=llm -T limit=50

A task's solver runs our flow in our world. Inspect's models perform the model calls (`--model-role
reflector=…` for one role), and Inspect's log holds our effects as events. A sample's scores are our
metrics for that episode alone, so their means equal ours for every metric that is a mean over
episodes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import InfoEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    read_eval_log,
    transcript,
    write_eval_log,
)
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import JsonValue

from naisei.cli.flags import configurations
from naisei.core import Chat, EffectFailed, Event, InputError, MemoryLog, Where, arun
from naisei.core.events import plain
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest, Transient
from naisei.models.gateway import Gateway
from naisei.models.registry import Roles, base_world
from naisei.runs.directory import RunDirectory
from naisei.runs.report import stored_summary
from naisei.runs.show import event_json
from naisei.runs.task import TITLES, EpisodeRow, Summary
from naisei.runs.task import Task as OurTask
from naisei.system.execute import check_models
from naisei.system.registry import find_system

_MESSAGE: dict[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class _InspectModel:
    """Adapts Inspect's model for a role to our interface; the gateway repairs and resends."""

    modes = ("prompt",)

    def __init__(self, role: str) -> None:
        self._model = get_model(role=role, default=get_model())
        self.name = f"inspect:{self._model}"
        self.offline = self.name.startswith("inspect:mockllm/")

    async def complete(self, request: ChatRequest) -> ChatReply:
        said = [_MESSAGE[m.role](content=m.content) for m in request.messages]
        sampling = request.sampling
        config = GenerateConfig(temperature=sampling.temperature, max_tokens=sampling.max_tokens)
        output = await self._model.generate(said, config=config)
        if output.error:
            raise Transient(output.error)
        usage = output.usage
        return ChatReply(
            output.completion,
            "length" if output.stop_reason == "max_tokens" else "stop",
            0 if usage is None else usage.input_tokens,
            0 if usage is None else usage.output_tokens,
            model=output.model,
        )

    async def aclose(self) -> None: ...


class _Events(MemoryLog):
    """Also records each effect as an event in Inspect's log."""

    def append(self, event: Event) -> None:
        super().append(event)
        if event.kind != "chat":  # Inspect already logs its own model calls
            transcript().info(event_json(event), source=f"naisei {event.kind}")


def _task(system: str, verb: str, options: dict[str, Any]) -> Task:
    declared = find_system(system)
    experiment = next(e for e in declared.experiments if e.verb == verb)
    if options.keys() <= experiment.config.model_fields.keys():
        config = experiment.config(**options)
    else:  # flag names of the command: trials=1
        (config,) = configurations(experiment, **options).values()
    roles = experiment.needed(config)
    if "models" in experiment.config.model_fields:
        config = config.model_copy(update={"models": dict.fromkeys(roles, "inspect:model")})
    check_models(experiment, config, "inspect")
    ours: OurTask[Any] = experiment.load(config)
    episodes = {where.episode: where for where in ours.episodes()}
    titles, targets = ours.titles(), ours.targets()
    samples = [
        Sample(
            id=name,
            input=titles.get(w.instance, w.instance),
            target=targets.get(w.instance, ""),
            metadata={"instance": w.instance, "repetition": w.trial},
        )
        for name, w in episodes.items()
    ]
    return Task(
        name=system,
        dataset=MemoryDataset(samples, name=str(getattr(config, "data", "") or system)),
        solver=_flow(ours, episodes, roles),
        scorer=_metrics(ours, episodes),
        metadata={"naisei": json.loads(config.model_dump_json())},
    )


@solver
def _flow(ours: OurTask[Any], episodes: dict[str, Where], roles: Sequence[str]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        where = episodes[str(state.sample_id)]
        embedder = getattr(ours.config, "embedder", "auto")
        async with base_world({}, embedder=embedder) as base:
            if roles:
                models = {role: _InspectModel(role) for role in roles}
                base = base.having({Chat: Gateway(Roles(models=models))})
            flow, world = ours.start(where, base)
            try:
                result = await arun(flow, world, log=_Events(), where=where)
                row = EpisodeRow(where, plain(result.model_dump(mode="json")))
            except EffectFailed as failed:
                row = EpisodeRow(where, failure=f"{type(failed).__name__}: {failed}")
        state.metadata |= {"result": row.result, "failure": row.failure}
        state.output = ModelOutput.from_content(f"naisei/{ours.system}", ours.transcript(row))
        return state

    return solve


@metric
def _defined_mean() -> Metric:
    """Return the mean over the samples with a defined value; NaN if there are none."""

    def over(scores: list[SampleScore]) -> float:
        values = [float(s.score.value) for s in scores if isinstance(s.score.value, int | float)]
        defined = [v for v in values if not math.isnan(v)]
        return sum(defined) / len(defined) if defined else math.nan

    return over


@scorer(metrics={"*": [_defined_mean()]})
def _metrics(ours: OurTask[Any], episodes: dict[str, Where]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        kept = state.metadata
        row = EpisodeRow(episodes[str(state.sample_id)], kept["result"], kept["failure"])
        found = ours.summarise([row]).metrics
        values = {m.name: float(m.value) for m in found}
        return Score(value=dict(values), explanation=state.output.completion)

    return score


@task
def clarify(**options: Any) -> Task:
    """R-Clarify; -T takes the fields of `ClarifyConfig` (`agent`, `data`, `limit`, `seed`, …)."""
    return _task("clarify", "run", {"agent": "llm", **options})


@task
def intent(**options: Any) -> Task:
    """The document assistant on questions; -T takes the fields of its `EvalConfig`."""
    return _task("intent", "eval", options)


@task
def director(**options: Any) -> Task:
    """Conversations of two characters; -T takes the fields of `TalkConfig`."""
    return _task("director", "talk", options)


@task
def textgame(**options: Any) -> Task:
    """Text games; -T takes the fields of `GameConfig` (`games` is a folder)."""
    return _task("textgame", "run", {"agent": "llm", **options})


def export_log(run: Path, to: Path) -> None:
    """Write a run as an Inspect log (`.eval` or `.json`), which `inspect view` opens.

    Raises:
        InputError: not a run directory.
    """
    with RunDirectory.look(run) as directory:
        frozen = directory.frozen
        model = frozen.config.get("models") or {}
        named = next(iter(model.values()), "none") if isinstance(model, dict) else "none"
        try:
            summary = stored_summary(directory).summary
        except InputError:
            summary = Summary(())
        metrics = summary.metrics
        samples = [_sample(directory, row, summary) for row in directory.log.rows().values()]
    found = {m.name: EvalMetric(name=m.name, value=m.value) for m in metrics if m.value == m.value}
    spec = EvalSpec(
        created=frozen.created,
        task=f"naisei/{frozen.system}",
        dataset=EvalDataset(name=str(frozen.config.get("data", "")), samples=len(samples)),
        model=str(named),
        config=EvalConfig(),
        metadata=frozen.model_dump(mode="json"),
    )
    scores = [EvalScore(name="naisei", scorer="naisei", metrics=found)]
    results = EvalResults(
        total_samples=len(samples),
        completed_samples=sum(s.error is None for s in samples),
        scores=scores,
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    log = EvalLog(status="success", eval=spec, results=results, samples=samples)
    write_eval_log(log, str(to))


def _sample(directory: RunDirectory, row: EpisodeRow, summary: Summary) -> EvalSample:
    from inspect_ai.log import EvalError

    unknown = datetime.fromtimestamp(0, UTC)  # our logs store durations, not times
    events: list[Any] = [
        InfoEvent(source=f"naisei {event.kind}", data=event_json(event), timestamp=unknown)
        for event in directory.log.read(row.where.episode)
    ]
    titles: Any = directory.log.get(TITLES) or {}
    result: Any = row.result if isinstance(row.result, dict) else {}
    said = json.dumps(row.result, ensure_ascii=False) if row.scored else ""
    each = {m.name: summary.per_unit(m.name).get(row.where.instance) for m in summary.metrics}
    values = {name: value for name, value in each.items() if value is not None}
    failed = EvalError(message=row.failure, traceback="", traceback_ansi="")
    return EvalSample(
        id=row.where.episode,
        epoch=1,
        input=str(dict(titles).get(row.where.instance, row.where.instance)),
        target=str(result.get("gold", "")),
        output=ModelOutput.from_content(f"naisei/{directory.frozen.system}", said),
        scores={"naisei": Score(value=values)} if row.scored and values else None,
        metadata={"instance": row.where.instance, "trial": row.where.trial, "result": row.result},
        events=events,
        error=None if row.scored else failed,
    )


def read_log(path: Path) -> list[tuple[EpisodeRow, list[JsonValue]]]:
    """Return the episodes, with events, of a log written by `export_log` or one of our tasks.

    Raises:
        InputError: its samples contain none of our results.
    """
    out: list[tuple[EpisodeRow, list[JsonValue]]] = []
    for sample in read_eval_log(str(path)).samples or []:
        kept = sample.metadata
        if "instance" not in kept:
            raise InputError(
                say("naisei の結果が入っていません", "holds no results of naisei"), place=str(path)
            )
        where = Where(str(kept["instance"]), int(kept.get("trial", kept.get("repetition", 0))))
        failure = str(kept.get("failure", "")) if sample.error is None else sample.error.message
        events = [
            e.data
            for e in sample.events
            if isinstance(e, InfoEvent) and str(e.source).startswith("naisei ")
        ]
        out.append((EpisodeRow(where, kept.get("result"), failure), events))
    return out
