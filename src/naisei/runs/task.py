"""What a system hands to the run engine: episodes, a flow for each, and its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Usage, Where, World

__all__ = ["Configured", "Draws", "EpisodeRow", "Metric", "Summary", "Table", "Task"]


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode's outcome as stored.

    result: what the flow returned (JSON), `None` while unscored. failure: the instrument
    failure that left it unscored, if any. usage: what its effects cost, one entry per
    effect that cost anything, as the log holds it.
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

    name: the literature's (`pass@3`, `dpass@3`). value: NaN where undefined, then `reason`
    says why. low, high: bounds of the 95 % interval, NaN where there is none. n: how many
    units it is over. per_unit: one value per scored unit in episode order, for paired tests
    (empty where the metric is no mean over units).
    """

    name: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    reason: str = ""
    per_unit: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report: a title, column heads, rows of text or numbers, and a note."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run amounts to: metrics, tables for the report, and notes that must be read."""

    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


class Configured(Protocol):
    """What a run directory knows a piece of work by."""

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
        """Frozen, JSON-serialisable; a run directory refuses another one."""
        ...


class Task(Configured, Protocol):
    """A configured piece of work: which episodes, how each runs, what is measured.

    Everything that changes results is in `config`, which is frozen into the run directory.
    """

    def episodes(self) -> Sequence[Where]:
        """All episodes, in a fixed order; `Where.instance` and `.trial` identify one."""
        ...

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        """A fresh flow for an episode, and its world: `base` plus what is its own.

        `base` performs Chat (the model gateway), Embed and Now.
        """
        ...

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        """Metrics over the scored rows. Called with however many there are, even none."""
        ...

    def transcript(self, row: EpisodeRow) -> str:
        """One episode in plain words for the terminal and the report."""
        ...


@runtime_checkable
class Draws(Protocol):
    """A task that draws its episodes for the report. Optional."""

    def figure(self, row: EpisodeRow) -> str:
        """An SVG document, shown above the transcript; empty for none."""
        ...
