"""Overview of a run: one line per episode, updated while another process writes.

Each stored result is read only once; the cost does not depend on the number of events.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue

from naisei.runs.log import RunLog
from naisei.runs.statistics import mean_metric
from naisei.runs.task import CLUSTERS, TITLES, Digest, Metric, Summary

#: Number of latest events used for the pace.
_RECENT = 5_000
#: Seconds over which the pace is measured.
_WINDOW = 60.0


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """One ended episode. at: end time in seconds since 1970. failure: why it is unscored, if so."""

    episode: str
    instance: str
    title: str
    digest: Digest
    failure: str
    at: float

    @property
    def outcome(self) -> Literal["good", "part", "bad", "unscored", "ended"]:
        """`good` at a value of 1, `bad` at 0, `part` between; `ended` without a value."""
        if self.failure:
            return "unscored"
        if math.isnan(self.digest.value):
            return "ended"
        return "good" if self.digest.value >= 1 else "bad" if self.digest.value <= 0 else "part"


@dataclass(frozen=True, slots=True)
class Pace:
    """Speed of a run. eta: seconds to its end, NaN if unknown. tokens: per minute."""

    eta: float
    tokens: float


class Overview:
    """The ended episodes of one run, in the order in which they ended.

    digest: maps a stored result to its cells; if it fails, the digest is empty.
    Not thread-safe.
    """

    def __init__(self, digest: Callable[[Any], Digest]) -> None:
        self.rows: dict[str, EpisodeOutcome] = {}
        self.total = 0
        self._digest = digest
        self._last = 0
        self._titles: Mapping[str, str] = {}
        self._clusters: Mapping[str, str] = {}

    def update(self, log: RunLog) -> list[EpisodeOutcome]:
        """Read and return new episodes."""
        total = log.get("episodes")
        self.total = total if isinstance(total, int) else 0
        if not self._titles and isinstance(titles := log.get(TITLES), dict):
            self._titles = {key: str(title) for key, title in titles.items()}
        if not self._clusters and isinstance(clusters := log.get(CLUSTERS), dict):
            self._clusters = {key: str(cluster) for key, cluster in clusters.items()}
        found = log.select(
            "SELECT rowid, episode, instance, result, failure, at FROM episodes"
            " WHERE rowid > ? ORDER BY rowid",
            (self._last,),
        )
        fresh = []
        for number, episode, instance, result, failure, at in found:
            digest = Digest() if result is None else self.read(log.loaded(result, episode))
            title = self._titles.get(instance) or digest.title
            outcome = EpisodeOutcome(
                episode, instance, title, digest, failure if result is None else "", at
            )
            self.rows.pop(episode, None)  # a retried episode moves to the end
            self.rows[episode] = outcome
            self._last = number
            fresh.append(outcome)
        return fresh

    def read(self, result: JsonValue) -> Digest:
        """Return the cells of a stored result."""
        try:
            return self._digest(result)
        except (LookupError, TypeError, ValueError, AttributeError):
            return Digest()  # written by another version: the table shows the episode anyway

    @property
    def counts(self) -> dict[str, int]:
        """The number of episodes per outcome, and of `pending` ones."""
        out = dict.fromkeys(("good", "part", "bad", "ended", "unscored"), 0)
        for row in self.rows.values():
            out[row.outcome] += 1
        return {**out, "pending": max(0, self.total - len(self.rows))}

    def failures(self) -> list[str]:
        """Return failed episodes: unscored ones, and those with a value below 1, worst first."""
        low = [row for row in self.rows.values() if row.outcome in ("unscored", "bad", "part")]
        low.sort(key=lambda row: -1.0 if row.failure else row.digest.value)
        return [row.episode for row in low]

    def mean(self) -> Metric:
        """Return the running mean of the values, with the same interval as in the report."""
        told = [row for row in self.rows.values() if not math.isnan(row.digest.value)]
        return mean_metric(
            "value",
            [row.digest.value for row in told],
            clusters=[self._clusters.get(row.instance, row.instance) for row in told],
            share=True,
            reason="no scored instance",
        )

    def pace(self, log: RunLog) -> Pace:
        """Estimate the pace from the episodes finished and tokens used in the last minute."""
        now = time.time()
        ended = [row.at for row in self.rows.values()]
        recent = [at for at in ended if at > now - _WINDOW] or ended[-10:]
        span = now - min(recent) if recent else 0.0
        left = self.total - len(self.rows)
        eta = left * span / len(recent) if recent and span > 0 else math.nan
        ((tokens,),) = log.select(
            "SELECT sum(input_tokens + output_tokens) FROM events"
            " WHERE seq > (SELECT max(seq) FROM events) - ? AND at > ? AND cached = 0",
            (_RECENT, now - _WINDOW),
        )
        return Pace(eta, float(tokens or 0.0) * 60 / _WINDOW)


def headline(summary: Summary, names: tuple[str, ...]) -> Metric | None:
    """Return the headline metric of a run: the first of `names` that is defined.

    A name that ends in `@` means the one with the largest k. Without names, the last proportion
    with per-unit values, else the first metric that is defined.
    """
    defined = [m for m in summary.metrics if not math.isnan(m.value)]
    for name in names:
        fitting = [m for m in defined if m.name == name]
        if name.endswith("@"):
            fitting = [
                m for m in defined if m.name.startswith(name) and m.name[len(name) :].isdigit()
            ]
            fitting.sort(key=lambda m: int(m.name[len(name) :]))
        if fitting:
            return fitting[-1]
    paired = [m for m in summary.paired() if m in defined]
    return paired[-1] if paired else defined[0] if defined else None
