"""How stable repeated ratings are: their spread, Krippendorff's α, and the median of n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, pstdev

from naisei.relationship.schemas import Direction
from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector
from naisei.runs.agreement import krippendorff_alpha
from naisei.runs.task import Metric

__all__ = ["away_from_zero", "median_reading", "stability"]


def away_from_zero(value: float) -> int:
    """The whole number next to it, halves away from 0, as people round."""
    return int(math.copysign(abs(value) + 0.5, value))


def median_reading(readings: Sequence[Reading]) -> Reading:
    """Self-consistency: the median of the usable readings in each dimension.

    Between two middle values the mean of both, rounded away from 0. Repairs of all are kept.
    If none is usable it fails with the first reason; those that failed are left out.
    """
    vectors = [r.vector for r in readings if r.vector is not None]
    repairs = tuple(repair for r in readings for repair in r.repairs)
    if not vectors:
        return Reading(
            repairs=repairs,
            failure=next((r.failure for r in readings if r.failure), "nothing was read"),
        )
    middle = {
        name: away_from_zero(median(getattr(vector, name) for vector in vectors))
        for name in DIMENSIONS
    }
    return Reading(vector=RelationVector(**middle), repairs=repairs)


def stability(
    repeats: Sequence[Sequence[dict[Direction, RelationVector | None]]], *, seed: int = 0
) -> list[Metric]:
    """Figures of the agreement of repeated ratings.

    repeats: for each repetition the vectors after each turn, all of one length; `None` where
    none was read. For each dimension: `alpha.D`, Krippendorff's α of interval data (difference
    function: the squared difference), units being turns × directions, resampled by turn;
    `sd.D`, the mean standard deviation within a unit (population form, in points of the
    scale); `agreed.D`, the share of units on which all repetitions agree. NaN with a reason
    where fewer than two repetitions were read.
    """
    out: list[Metric] = []
    turns = len(repeats[0]) if repeats else 0
    for name in DIMENSIONS:
        units: list[list[int | None]] = []
        clusters: list[int] = []
        for turn in range(turns):
            for way in ("a_to_b", "b_to_a"):
                vectors = [one[turn].get(way) for one in repeats]
                units.append([None if v is None else int(getattr(v, name)) for v in vectors])
                clusters.append(turn)
        out.append(
            krippendorff_alpha(
                units,
                distance=lambda a, b: float((a - b) ** 2),
                clusters=clusters,
                name=f"alpha.{name}",
                seed=seed,
            )
        )
        read = [kept for unit in units if len(kept := [v for v in unit if v is not None]) >= 2]
        why = "" if read else "no turn was read twice"
        out.append(_mean(f"sd.{name}", [pstdev(unit) for unit in read], why))
        out.append(_mean(f"agreed.{name}", [float(len(set(unit)) == 1) for unit in read], why))
    return out


def _mean(name: str, values: Sequence[float], why: str) -> Metric:
    if not values:
        return Metric(name, math.nan, reason=why)
    return Metric(name, sum(values) / len(values), n=len(values))
