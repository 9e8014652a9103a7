"""A system's task for the run engine: episodes, a flow for each, and metrics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Usage, Where, World
from naisei.lang import say
from naisei.runs.lines import Line, as_text

if TYPE_CHECKING:
    from naisei.runs.directory import RunDirectory
    from naisei.runs.result import RunResult

C = TypeVar("C", bound=BaseModel)
#: Key of the log note with `Task.titles`.
TITLES = "titles"
#: Key of the log note with `Task.clusters`.
CLUSTERS = "clusters"


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode's outcome as stored.

    result: the flow's return value (JSON), `None` while unscored. failure: the instrument
    failure that left it unscored, if any. usage: cost of its effects, summed by role and model;
    cached and repaired replies are counted separately.
    """

    where: Where
    result: JsonValue = None
    failure: str = ""
    usage: tuple[Usage, ...] = ()

    @property
    def scored(self) -> bool:
        return self.result is not None


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a run.

    name: as in the literature (`pass@3`, `dpass@3`). value: NaN if undefined. low, high: bounds of
    the 95 % interval, NaN if there is none. reason: why the value or interval is undefined. n:
    number of values. per_unit: for paired tests, one value for each of the summary's
    `extra["units"]`, NaN if a unit has none; empty if the metric is not a mean over units.
    share: the value lies in [0, 1] by definition. bounds: minimum and maximum possible value; the
    interval is clipped to them. definition: setting → value, for settings that change the meaning
    of the metric: two runs are compared only if these are equal.
    """

    name: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    reason: str = ""
    per_unit: tuple[float, ...] = ()
    share: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)
    definition: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Digest:
    """An episode's outcome as table cells.

    value: score, 0 to 1; NaN if undefined. did: short description of the outcome. questions:
    number of questions to the person; `None` if nobody is asked. title: its topic, if the log
    has no title.
    """

    value: float = float("nan")
    did: str = ""
    questions: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report: a title, column headers, rows of text or numbers, and a note."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a run: metrics, tables for the report, and notes."""

    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def paired(self) -> list[Metric]:
        """Return the metrics with per-unit values, proportions last."""
        return sorted((m for m in self.metrics if m.per_unit), key=lambda m: m.share)

    def per_unit(self, name: str) -> dict[str, float]:
        """Return a metric's values by unit, averaged if a unit has several (its trials); empty if
        it has none that can be paired."""
        metric = next((m for m in self.metrics if m.name == name), None)
        units = self.extra.get("units", [])
        # Values that do not belong to units cannot be paired.
        if metric is None or len(metric.per_unit) != len(units):
            return {}
        by_unit: dict[str, list[float]] = {}
        for unit, value in zip(units, metric.per_unit, strict=True):
            by_unit.setdefault(unit, []).append(value)
        return {unit: sum(values) / len(values) for unit, values in by_unit.items()}

    def clusters(self) -> dict[str, str]:
        """Return unit → cluster if the system names clusters; else each unit is a cluster."""
        units = self.extra.get("units", [])
        return dict(zip(units, map(str, self.extra.get("clusters", units)), strict=True))


class Configured(Protocol):
    """The identity of a task in a run directory."""

    @property
    def system(self) -> str:
        """Name of the system, for example `clarify`."""
        ...

    @property
    def data_hash(self) -> str:
        """Digest of the data the episodes come from."""
        ...

    @property
    def config(self) -> BaseModel:
        """Frozen, JSON-serialisable; a run directory accepts only this one."""
        ...


class Task(ABC, Generic[C]):
    """A configured task: its episodes, their flows, and metrics.

    A system's task loads its data on construction and raises `InputError` for invalid data.

    system: its name. config: everything that changes results, frozen into the run directory.
    data_hash: digest of the data the episodes come from. concurrency: upper limit of concurrent
    episodes; `None` for no limit. alone: episodes are CPU-bound, such as training: one at a time in
    a process, and one per worker of a cluster. in_terminal: episodes talk to the user at the
    terminal, so they run in this process. each: path of the list of trials in a result, such as
    `trials` or `sessions.lines`; each becomes a row of `naisei.runs.export`; empty if the result is
    a single trial. row_names: columns of those rows to rename; lists among them are counted.
    """

    system: str
    config: C
    data_hash: str
    concurrency: int | None = None
    alone: bool = False
    in_terminal: ClassVar[bool] = False
    each: str = ""
    row_names: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def episodes(self) -> Sequence[Where]:
        """All episodes, in a fixed order; `Where.instance` and `.trial` identify one."""

    @abstractmethod
    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        """Return a new flow for an episode, and its world: `base` plus its own handlers.

        `base` performs Chat (the model gateway), Embed and Now.
        """

    @abstractmethod
    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        """Compute metrics over the scored rows, of which there may be none."""

    def titles(self) -> Mapping[str, str]:
        """Return instance → short description (the utterance, the topic), shown in lists of
        episodes. Empty if the instance names are descriptive."""
        return {}

    def targets(self) -> Mapping[str, str]:
        """Return instance → the correct answer in words. Empty if not known in advance."""
        return {}

    def clusters(self) -> Mapping[str, str]:
        """Return instance → cluster, such as a shared scene; instances of one cluster are not
        independent evidence. Empty if all instances are independent."""
        return {}

    @abstractmethod
    def render_episode(self, where: Where, result: JsonValue) -> Sequence[Line]:
        """Return a scored episode as lines for the terminal, the report and pages."""

    def instances(self, where: Where, result: JsonValue) -> tuple[str, list[dict[str, Any]]] | None:
        """Return a scored episode as instances: `NAME/CONFIG` of a bundled data set, and rows that
        match its schema. `None` if no data set has such instances."""
        return None

    def transcript(self, row: EpisodeRow) -> str:
        """Return an episode as readable text, or why it is unscored."""
        return (
            row.failure
            if row.result is None
            else as_text(self.render_episode(row.where, row.result))
        )

    def figure(self, where: Where, result: JsonValue) -> str:
        """Return an SVG document to show above the transcript; empty for none."""
        return ""

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        """A context around the episodes: starts helpers and cleans them up."""
        yield

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        """Write system-specific files next to the report when a run ends or stops."""

    def model_notes(self) -> tuple[str, ...]:
        """Return the note on results of the embedded model."""
        models: dict[str, str] = getattr(self.config, "models", {})
        if not any(name.startswith("local:") for name in models.values()):
            return ()
        from naisei.models.weights import NOTICE_EN, NOTICE_JA

        return (say(NOTICE_JA, NOTICE_EN),)
