"""Tracking of runs: OpenTelemetry spans, and experiment trackers.

A tracker is notified during a run. It changes nothing, and its exceptions disable only the tracker.
`--track otel` (or mlflow, wandb, tensorboard) selects one; in Python, any object with these four
methods is a tracker. In addition to the spans of effects (`naisei.runs.spans`), `otel` emits a span
for each episode, `invoke_agent`, and for the run, with each metric as an event
`gen_ai.evaluation.result`.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from naisei.core import Event, InputError
from naisei.lang import say
from naisei.runs.spans import content_wanted, described, failed

if TYPE_CHECKING:
    from naisei.runs.result import RunResult
    from naisei.runs.task import Configured, EpisodeRow

_LOG = logging.getLogger("naisei.runs")


class Tracker(Protocol):
    """Receives one run's start, each newly logged effect, each episode, and its end."""

    def begin(self, task: Configured, path: Path) -> None: ...

    def event(self, event: Event) -> None: ...

    def episode(self, row: EpisodeRow) -> None: ...

    def end(self, result: RunResult | None) -> None:
        """Called at the end of a run. result: `None` if the run was aborted."""


class Trackers:
    """Several trackers as one. If a tracker fails, this is logged and it is not called again.

    on_event, on_episode: also called. result: the run's result, set before leaving `of`.
    """

    def __init__(
        self,
        trackers: Sequence[Tracker],
        on_event: Callable[[Event], None] | None = None,
        on_episode: Callable[[EpisodeRow], None] | None = None,
    ) -> None:
        self._trackers = list(trackers)
        self._on_event, self._on_episode = on_event, on_episode
        self.result: RunResult | None = None

    @contextmanager
    def of(self, task: Configured, path: Path) -> Iterator[None]:
        """Track a run inside this context."""
        self._tell(lambda tracker: tracker.begin(task, path))
        try:
            yield
        finally:
            self._tell(lambda tracker: tracker.end(self.result))

    def event(self, event: Event) -> None:
        self._tell(lambda tracker: tracker.event(event))
        if self._on_event is not None:
            self._on_event(event)

    def episode(self, row: EpisodeRow) -> None:
        self._tell(lambda tracker: tracker.episode(row))
        if self._on_episode is not None:
            self._on_episode(row)

    def _tell(self, what: Callable[[Tracker], None]) -> None:
        for tracker in [*self._trackers]:
            try:
                what(tracker)
            except Exception:
                _LOG.exception("the tracker %s is left out", type(tracker).__name__)
                self._trackers.remove(tracker)


def tracked(
    names: Sequence[str],
    more: Sequence[Tracker] = (),
    on_event: Callable[[Event], None] | None = None,
    on_episode: Callable[[EpisodeRow], None] | None = None,
) -> Trackers:
    """Return the trackers with the given names from `_TRACKERS`, and `more`.

    Raises:
        InputError: a tracker is unknown or has no endpoint.
        ModuleNotFoundError: a tracker is not installed.
    """
    for name in names:
        if name not in _TRACKERS:
            known = ", ".join(_TRACKERS)
            raise InputError(
                say(f"'{name}' は使えません", f"unknown tracker '{name}'"),
                place="--track",
                remedy=say(f"使えるもの: {known}", f"known: {known}"),
            )
    return Trackers([*(_TRACKERS[name]() for name in names), *more], on_event, on_episode)


class Telemetry:
    """Emits spans with the program's tracer provider; without one, to the endpoint in
    `OTEL_EXPORTER_OTLP_ENDPOINT` (http/protobuf)."""

    def __init__(self) -> None:
        self._trace = import_module("opentelemetry.trace")
        self._own: Any = None
        if type(self._trace.get_tracer_provider()).__name__ == "ProxyTracerProvider":
            self._own = _exporting()
        provider = self._own or self._trace.get_tracer_provider()
        self._tracer = provider.get_tracer("naisei")
        self._content = content_wanted()
        self._run: Any = None
        self._agent = ""
        self._episodes: dict[str, Any] = {}

    def begin(self, task: Configured, path: Path) -> None:
        self._agent = str(getattr(task.config, "agent", "") or task.system)
        kept = {"naisei.system": task.system, "naisei.run": path.name}
        self._run = self._tracer.start_span(f"naisei {task.system}", attributes=kept)

    def event(self, event: Event) -> None:
        end = time.time_ns()
        start = end - int(event.seconds * 1e9)
        name, attributes, kind = described(event, content=self._content)
        span = self._tracer.start_span(
            name,
            context=self._trace.set_span_in_context(self._of(event.where.episode, start)),
            kind=getattr(self._trace.SpanKind, kind),
            attributes=attributes,
            start_time=start,
        )
        if event.failure is not None:
            failed(self._trace, span, *event.failure, content=self._content)
        span.end(end)

    def episode(self, row: EpisodeRow) -> None:
        span = self._of(row.where.episode, time.time_ns())
        if row.failure:
            failed(self._trace, span, *row.failure.split(": ", 1), content=self._content)
        span.end()
        self._episodes.pop(row.where.episode, None)

    def end(self, result: RunResult | None) -> None:
        for span in self._episodes.values():
            span.end()
        if result is not None:
            for metric in result.summary.metrics:
                if metric.value == metric.value:
                    score = {"gen_ai.evaluation.name": metric.name}
                    values = {"gen_ai.evaluation.score.value": float(metric.value)}
                    self._run.add_event("gen_ai.evaluation.result", {**score, **values})
        self._run.end()
        if self._own is not None:
            self._own.shutdown()  # sends the remaining spans

    def _of(self, episode: str, start: int) -> Any:
        if episode not in self._episodes:
            self._episodes[episode] = self._tracer.start_span(
                f"invoke_agent {self._agent}",
                context=self._trace.set_span_in_context(self._run),
                attributes={
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": self._agent,
                    "gen_ai.conversation.id": episode,
                    "gen_ai.provider.name": "naisei",
                },
                start_time=start,
            )
        return self._episodes[episode]


def _exporting() -> Any:
    """Return a provider for the endpoint in the environment; `None` if there is none."""
    if not any(os.environ.get(f"OTEL_EXPORTER_OTLP_{n}ENDPOINT") for n in ("", "TRACES_")):
        raise InputError(
            say("送り先がありません", "there is nowhere to send spans to"),
            place="--track otel",
            remedy=say(
                "OTEL_EXPORTER_OTLP_ENDPOINT を指定してください (例: http://localhost:4318)",
                "set OTEL_EXPORTER_OTLP_ENDPOINT, such as http://localhost:4318",
            ),
        )
    sdk = import_module("opentelemetry.sdk.trace")
    batch = import_module("opentelemetry.sdk.trace.export")
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    resources = import_module("opentelemetry.sdk.resources")
    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "naisei")}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(batch.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    return provider


@dataclass
class _ExperimentTracker:
    """Base class of experiment trackers: logs parameters at the start of a run, counts during it
    and metrics at its end. A subclass does the writing."""

    params: dict[str, str] = field(default_factory=dict)
    episodes: int = 0
    tokens: int = 0

    def begin(self, task: Configured, path: Path) -> None:
        config: dict[str, Any] = json.loads(task.config.model_dump_json())
        self.params = {k: str(v)[:250] for k, v in config.items() if v not in (None, [], {}, "")}
        self.open(f"{task.system} {path.name}", path)

    def event(self, event: Event) -> None:
        self.tokens += 0 if event.usage is None else event.usage.tokens

    def episode(self, row: EpisodeRow) -> None:
        self.episodes += 1
        self.write({"episodes": self.episodes, "tokens": self.tokens}, self.episodes)

    def end(self, result: RunResult | None) -> None:
        if result is not None:
            found = {m.name: m.value for m in result.summary.metrics if m.value == m.value}
            self.write(found, self.episodes)
        self.close(result)

    def open(self, name: str, path: Path) -> None:
        raise NotImplementedError

    def write(self, values: dict[str, float], step: int) -> None:
        raise NotImplementedError

    def close(self, result: RunResult | None) -> None:
        raise NotImplementedError


class MLflow(_ExperimentTracker):
    """Logs to the server at `MLFLOW_TRACKING_URI`, or as configured in MLflow."""

    def __init__(self) -> None:
        super().__init__()
        self._mlflow = import_module("mlflow")

    def open(self, name: str, path: Path) -> None:
        self._mlflow.start_run(run_name=name)
        self._mlflow.log_params(self.params)

    def write(self, values: dict[str, float], step: int) -> None:
        # MLflow allows only letters, digits and _-./ in names, unlike pass@1, pass^1.
        named = {k.replace("@", "_at_").replace("^", "_hat_"): v for k, v in values.items()}
        self._mlflow.log_metrics(named, step=step)

    def close(self, result: RunResult | None) -> None:
        if result is not None:
            self._mlflow.log_artifact(str(result.report))
        self._mlflow.end_run("FINISHED" if result is not None else "FAILED")


class _WeightsAndBiases(_ExperimentTracker):
    """Configured by `wandb login` and the variables `WANDB_…`."""

    def __init__(self) -> None:
        super().__init__()
        self._wandb = import_module("wandb")

    def open(self, name: str, path: Path) -> None:
        self._run = self._wandb.init(name=name, config=self.params)

    def write(self, values: dict[str, float], step: int) -> None:
        self._run.log(values, step=step)

    def close(self, result: RunResult | None) -> None:
        self._run.finish(exit_code=0 if result is not None else 1)


class TensorBoard(_ExperimentTracker):
    """Writes event files to the folder `tensorboard` of the run."""

    def __init__(self) -> None:
        super().__init__()
        self._library = import_module("tensorboardX")

    def open(self, name: str, path: Path) -> None:
        self._writer = self._library.SummaryWriter(str(path / "tensorboard"))
        self._writer.add_text("configuration", json.dumps(self.params, ensure_ascii=False))

    def write(self, values: dict[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self, result: RunResult | None) -> None:
        self._writer.close()


_TRACKERS: dict[str, Callable[[], Tracker]] = {
    "otel": Telemetry,
    "mlflow": MLflow,
    "wandb": _WeightsAndBiases,
    "tensorboard": TensorBoard,
}
