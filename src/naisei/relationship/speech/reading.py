"""What the estimator answers: three numbers with their grounds, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from naisei.lang import say
from naisei.relationship.speech.features import FEATURES
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, RelationVector

__all__ = ["Estimate", "Sign", "SpeechReading"]


@dataclass(frozen=True, slots=True)
class Sign:
    """One feature that moved the number. share: by how much. lines: (index of the line in the
    dialogue, words heard there), the latest few."""

    dimension: str
    feature: str
    share: float
    lines: tuple[tuple[int, tuple[str, ...]], ...] = ()

    @property
    def words(self) -> str:
        """The feature in words, in the user's language."""
        found = next(f for f in FEATURES[self.dimension] if f.name == self.feature)
        high = (self.share >= 0) == (found.sign > 0)
        return say(found.ja[0 if high else 1], found.en[0 if high else 1])


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a direction, −3…3; NaN where speech does not tell, then `reason` says why."""

    value: float
    reason: str = ""
    signs: tuple[Sign, ...] = ()

    @property
    def rounded(self) -> int | None:
        """The whole number, halves away from 0; `None` for NaN."""
        if math.isnan(self.value):
            return None
        return max(LOW, min(HIGH, int(math.copysign(abs(self.value) + 0.5, self.value))))


@dataclass(frozen=True, slots=True)
class SpeechReading:
    """How `src` stands toward `dst` by how they talk. estimates: dimension → its estimate."""

    src: str
    dst: str
    estimates: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, dimension: str) -> Estimate:
        return self.estimates[dimension]

    @property
    def vector(self) -> RelationVector | None:
        """The whole numbers; `None` unless all three are known."""
        found = {name: self.estimates[name].rounded for name in DIMENSIONS}
        if any(value is None for value in found.values()):
            return None
        return RelationVector.model_validate(found)

    def to_json(self) -> dict[str, Any]:
        """dimension → value, rounded, reason, and the signs with their lines; NaN is `null`."""
        return {
            name: {
                "value": None if math.isnan(one.value) else round(one.value, 3),
                "rounded": one.rounded,
                "reason": one.reason,
                "signs": [
                    {
                        "feature": sign.feature,
                        "share": round(sign.share, 3),
                        "words": sign.words,
                        "lines": [{"line": at, "heard": list(words)} for at, words in sign.lines],
                    }
                    for sign in one.signs
                ],
            }
            for name, one in self.estimates.items()
        }
