"""Summaries as kept in a run's log, so that reports and comparisons need no system."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.task import Metric, Summary, Table

__all__ = ["Kept", "keep", "kept", "plain_number"]

_KEY = "summary"
#: Metrics with one value for each of `extra["units"]`, by their names in the literature.
_PAIRED = re.compile(r"d?pass[@^]\d+$")


@dataclass(frozen=True, slots=True)
class Kept:
    """A summary with what a report shows beside it.

    scored: episodes that the summary is over. transcripts: episode → its text, a sample.
    figures: episode → an SVG document, for those of them that have one.
    stopped: why the run is not at its end.
    """

    summary: Summary
    scored: int
    stopped: str = ""
    seconds: float = 0.0
    transcripts: tuple[tuple[str, str], ...] = ()
    figures: dict[str, str] = field(default_factory=dict)

    def per_unit(self, name: str) -> dict[str, float]:
        """A metric's values by unit: empty if it has none that can be paired.

        `summary.extra["units"]` names the units. Pass@k and its kin have one value for each;
        other metrics that do are named in `extra["paired"]`.
        """
        metric = next((m for m in self.summary.metrics if m.name == name), None)
        units = self.summary.extra.get("units", [])
        paired = _PAIRED.match(name) or name in self.summary.extra.get("paired", [])
        if metric is None or not paired or len(units) != len(metric.per_unit):
            return {}
        return dict(zip(units, metric.per_unit, strict=True))

    def clusters(self) -> dict[str, str]:
        """Unit → cluster, where the system names clusters; else each unit by itself."""
        units = self.summary.extra.get("units", [])
        labels = self.summary.extra.get("clusters", units)
        return dict(zip(units, map(str, labels), strict=True))


def keep(directory: RunDirectory, kept: Kept) -> None:
    """Store a summary with its run."""
    # Through text, since `extra` is the system's own and may hold tuples.
    directory.log.put(_KEY, json.loads(json.dumps(asdict(kept), default=str)))


def kept(directory: RunDirectory) -> Kept:
    """The summary stored with a run.

    Raises:
        InputError: the run has none yet: it was killed, or is still going.
    """
    data: Any = directory.log.get(_KEY)
    if data is None:
        raise InputError(
            say(
                "この実行にはまだ集計がありません。途中で止められたか、まだ動いています",
                "the run has no summary yet: it was killed, or is still going",
            ),
            place=str(directory.path),
            remedy=say(
                f"`naisei runs resume {directory.path}` で最後まで進みます",
                f"`naisei runs resume {directory.path}` finishes it",
            ),
        )
    summary = data["summary"]
    return Kept(
        summary=Summary(
            metrics=tuple(
                Metric(**{**m, "per_unit": tuple(m["per_unit"])}) for m in summary["metrics"]
            ),
            tables=tuple(
                Table(t["title"], tuple(t["columns"]), tuple(map(tuple, t["rows"])), t["note"])
                for t in summary["tables"]
            ),
            notes=tuple(summary["notes"]),
            extra=summary["extra"],
        ),
        scored=data["scored"],
        stopped=data["stopped"],
        seconds=data["seconds"],
        transcripts=tuple((episode, text) for episode, text in data["transcripts"]),
        figures=data.get("figures", {}),
    )


def plain_number(value: float) -> float | None:
    """For JSON that others read: NaN and infinities have no form there and become null."""
    return value if math.isfinite(value) else None
