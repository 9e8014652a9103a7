"""Where a rating and speech disagree: a model's vector against the estimator's, turn by turn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from naisei.lang import say
from naisei.relationship.degrees import NAMES_JA
from naisei.relationship.rate import WAYS, Rating, rate_by_speech
from naisei.relationship.rate_output import direction_label
from naisei.relationship.schemas import Direction
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric, Table

__all__ = ["Check", "Disagreement", "check", "spearman"]

#: Points of the scale from which two raters disagree.
APART = 2.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One number on which the two are `APART` or more, or take opposite sides of the power.

    words: the strongest sign of the speech, in words.
    """

    session: int
    turn: int
    direction: Direction
    dimension: str
    rated: float
    speech: float
    words: str


@dataclass(frozen=True, slots=True)
class Check:
    """metrics: `mean_gap.D`, the mean absolute difference; `rank.D`, Spearman's ρ over turns ×
    directions. NaN with a reason where nothing can be compared."""

    rater: str
    metrics: tuple[Metric, ...]
    disagreements: tuple[Disagreement, ...]

    def table(self) -> Table:
        rows = tuple(
            (
                f"{d.session}:{d.turn}",
                direction_label(d.direction),
                say(NAMES_JA[d.dimension], d.dimension),
                round(d.rated, 2),
                round(d.speech, 2),
                d.words,
            )
            for d in self.disagreements
        )
        return Table(
            say("発話からの推定と食い違うところ", "Where speech disagrees"),
            (
                say("発話", "turn"),
                say("向き", "direction"),
                say("次元", "dimension"),
                self.rater,
                say("推定", "speech"),
                say("発話の特徴", "sign"),
            ),
            rows,
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Undefined figures are null, with the reason."""
        return {
            "metrics": {m.name: None if math.isnan(m.value) else m.value for m in self.metrics},
            "reasons": {m.name: m.reason for m in self.metrics if m.reason},
            "disagreements": [
                {
                    "session": d.session,
                    "turn": d.turn,
                    "direction": d.direction,
                    "dimension": d.dimension,
                    "rated": d.rated,
                    "speech": round(d.speech, 3),
                    "sign": d.words,
                }
                for d in self.disagreements
            ],
        }


def check(rating: Rating, *, seed: int = 0) -> Check:
    """Compare a rating with the speech of its own dialogue."""
    speech = rate_by_speech(rating.dialogue)
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in DIMENSIONS}
    apart = []
    for rated, heard in zip(rating.turns, speech.turns, strict=True):
        for way in WAYS:
            for name in DIMENSIONS:
                a, b = rated.marks[way][name].value, heard.marks[way][name].value
                if math.isnan(a) or math.isnan(b):
                    continue
                pairs[name].append((a, b))
                opposite = name == "Power" and a * b < 0 and min(abs(a), abs(b)) >= 1
                if abs(a - b) >= APART or opposite:
                    signs = heard.speech[way][name].signs
                    line, words = rated.line, signs[0].words if signs else ""
                    apart.append(Disagreement(line.session, line.turn, way, name, a, b, words))
    metrics = []
    for name in DIMENSIONS:
        why = "no turn was read by both"
        gaps = [abs(a - b) for a, b in pairs[name]]
        metrics.append(mean_metric(f"mean_gap.{name}", gaps, seed=seed, reason=why))
        metrics.append(_rank(f"rank.{name}", pairs[name]))
    return Check(rating.rater, tuple(metrics), tuple(apart))


def _rank(name: str, pairs: list[tuple[float, float]]) -> Metric:
    a, b = (np.array([p[i] for p in pairs]) for i in (0, 1))
    value = spearman(a, b)
    why = "" if value == value else "fewer than three turns, or one of the two never changes"
    return Metric(name, value, n=len(pairs), reason=why)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation ρ, ties by their mean rank; NaN where undefined."""
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[back]
