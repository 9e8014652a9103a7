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
#: Note of a run's log: `Task.titles`.
TITLES = "titles"
#: Note of a run's log: `Task.clusters`.
CLUSTERS = "clusters"


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode's outcome as stored.

    result: what the flow returned (JSON), `None` while unscored. failure: the instrument
    failure that left it unscored, if any. usage: what its effects cost, summed by role and
    model, with what was answered from a cache or had to be repaired apart.
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
    """A figure of a run.

    name: the literature's (`pass@3`, `dpass@3`). value: NaN where undefined. low, high: bounds of
    the 95 % interval, NaN where there is none. reason: why the value or interval is undefined. n:
    number of values. per_unit: for paired tests, one value for each of the summary's
    `extra["units"]`, NaN where a unit has none; empty where the metric is no mean over units.
    share: it lies in [0, 1] by definition. bounds: the least and greatest value that it can have,
    which its interval keeps to. definition: setting → value, of those that the metric
    means something else with: two runs are compared only where these are the same.
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
    """An episode's outcome in the cells of a table.

    value: score, 0 to 1; NaN if undefined. did: the outcome in a few words. questions: asked of the
    person; `None` where nobody is asked. title: its topic, if the log has no title.
    """

    value: float = float("nan")
    did: str = ""
    questions: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report: a title, column heads, rows of text or numbers, and a note."""

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
        """The metrics with a value for each unit, shares last."""
        return sorted((m for m in self.metrics if m.per_unit), key=lambda m: m.share)

    def per_unit(self, name: str) -> dict[str, float]:
        """A metric's values by unit, the mean over what a unit has several of (its trials); empty
        if it has none that can be paired."""
        metric = next((m for m in self.metrics if m.name == name), None)
        units = self.extra.get("units", [])
        # Values of something else than the units pair with nothing.
        if metric is None or len(metric.per_unit) != len(units):
            return {}
        by_unit: dict[str, list[float]] = {}
        for unit, value in zip(units, metric.per_unit, strict=True):
            by_unit.setdefault(unit, []).append(value)
        return {unit: sum(values) / len(values) for unit, values in by_unit.items()}

    def clusters(self) -> dict[str, str]:
        """Unit → cluster, where the system names clusters; else each unit by itself."""
        units = self.extra.get("units", [])
        return dict(zip(units, map(str, self.extra.get("clusters", units)), strict=True))


class Configured(Protocol):
    """The identity of a task in a run directory."""

    @property
    def system(self) -> str:
        """Name of the system, e.g. `clarify`."""
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

    A system's own task loads its data when it is made, and raises `InputError` for invalid data.

    system: its name. config: everything that changes results, frozen into the run directory.
    data_hash: digest of the data the episodes come from. concurrency: upper limit of concurrent
    episodes; `None` for any. alone: episodes are CPU-bound, such as training: one at a time in a
    process, and one per worker of a cluster. in_terminal: episodes talk to the user at the
    terminal, so they run in this process. each: which list in a result holds its trials, such as
    `trials` or `sessions.lines`, each a row of `naisei.runs.export`; empty if a result is one.
    row_names: columns of those rows that have a better name; a list among them is counted.
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
        """A fresh flow for an episode, and its world: `base` plus its own handlers.

        `base` performs Chat (the model gateway), Embed and Now.
        """

    @abstractmethod
    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        """Metrics over the scored rows. Called with any number of them, even none."""

    def titles(self) -> Mapping[str, str]:
        """Instance → its topic in a few words (the utterance, the topic): shown in lists
        of episodes. Empty where the name of an instance says it."""
        return {}

    def targets(self) -> Mapping[str, str]:
        """Instance → the right answer in words. Empty where nothing says that beforehand."""
        return {}

    def clusters(self) -> Mapping[str, str]:
        """Instance → what it shares with others, such as its scene, so that they are no independent
        evidence. Empty where each instance stands for itself."""
        return {}

    @abstractmethod
    def render_episode(self, where: Where, result: JsonValue) -> Sequence[Line]:
        """A scored episode line by line: what the terminal, the report and pages show of it."""

    def instances(self, where: Where, result: JsonValue) -> tuple[str, list[dict[str, Any]]] | None:
        """A scored episode as instances: `NAME/CONFIG` of a bundled data set, and rows in its
        form. `None` where no data set has such instances."""
        return None

    def transcript(self, row: EpisodeRow) -> str:
        """An episode in plain words; why it is unscored if it is."""
        return (
            row.failure
            if row.result is None
            else as_text(self.render_episode(row.where, row.result))
        )

    def figure(self, where: Where, result: JsonValue) -> str:
        """An SVG document shown above the transcript; empty for none."""
        return ""

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        """A context around the episodes: starts helpers and cleans them up."""
        yield

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        """Files of the system's own, written beside the report when a run ends or stops."""

    def model_notes(self) -> tuple[str, ...]:
        """The note on figures of the embedded model."""
        models: dict[str, str] = getattr(self.config, "models", {})
        if not any(name.startswith("local:") for name in models.values()):
            return ()
        from naisei.models.weights import NOTICE_EN, NOTICE_JA

        return (say(NOTICE_JA, NOTICE_EN),)
