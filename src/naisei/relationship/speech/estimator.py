"""The estimator: read a dialogue line by line, and say after any line how the two stand."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.lang import say
from naisei.relationship.speech.features import (
    FEATURES,
    SpeakerFeatures,
    utterance_features,
    values,
)
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, RelationVector


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
    """One number of a direction, −3…3; NaN where speech does not tell, then `reason` says why.

    score: the weighted sum, −3…3, also where it is too near to 0 to be told; NaN where too little
    was said. For curves and comparisons of means, not for a reader.
    """

    value: float
    reason: str = ""
    signs: tuple[Sign, ...] = ()
    score: float = math.nan

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


class Coefficients(BaseModel):
    """A linear model a dimension: value = intercept + Σ coefficient · feature.

    coefficients: dimension → feature → coefficient. intercepts: dimension → value; Power has 0,
    so that the two directions are mirror images. bands: a value nearer to 0 is not told.
    fitted_on: what they were fitted on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    intercepts: dict[str, float]
    bands: dict[str, float]
    coefficients: dict[str, dict[str, float]]
    fitted_on: str = ""

    def listed(self, dimension: str) -> list[float]:
        """Coefficients in the order of `FEATURES`."""
        return [self.coefficients[dimension][f.name] for f in FEATURES[dimension]]


@lru_cache(maxsize=4)
def load_coefficients(version: str = "speech.v2") -> Coefficients:
    """The shipped coefficients of this name."""
    path = files("naisei.relationship.speech") / "coefficients" / f"{version}.json"
    return Coefficients.model_validate(json.loads(path.read_text(encoding="utf-8")))


#: Fewest Japanese characters of a speaker from which anything is estimated.
LEAST = 8
#: Share of letters that must be Japanese.
_JAPANESE = 0.5
#: Signs told with a number, strongest first.
_SIGNS = 4
_TOLD = 0.05


class SpeechEstimator:
    """A dialogue of two, heard so far.

    Args:
        speakers: names or ids of the two, as the lines have them.
        names: speaker → display name, where it differs; address terms are told by it.
    """

    def __init__(
        self,
        speakers: tuple[str, str],
        *,
        names: dict[str, str] | None = None,
        weights: Coefficients | None = None,
    ) -> None:
        if speakers[0] == speakers[1]:
            raise ValueError(f"two speakers are needed, not {speakers[0]!r} twice")
        self.speakers = speakers
        self._names = {s: (names or {}).get(s, s) for s in speakers}
        self._weights = load_coefficients() if weights is None else weights
        self._sides = {s: SpeakerFeatures() for s in speakers}
        self._at = 0

    def add(self, speaker: str, text: str) -> None:
        """Hear one line. `KeyError` for a speaker who is none of the two."""
        heard = utterance_features(text, self._names[speaker], self._names[self._other(speaker)])
        self._sides[speaker].add(self._at, heard)
        self._at += 1

    def reading(self, src: str) -> SpeechReading:
        """How `src` stands toward the other, by all that was heard so far."""
        dst = self._other(src)
        own, other = self._sides[src], self._sides[dst]
        found: dict[str, Estimate] = {}
        traits = own.traits(), other.traits()
        for name in DIMENSIONS:
            sides = (own, other) if name != "Intimacy" else (own,)
            reason = _too_little(self._names[src], sides)
            if reason:
                found[name] = Estimate(math.nan, reason)
            else:
                found[name] = self._estimate(name, traits, (own, other))
        return SpeechReading(src, dst, found)

    def traits(self, speaker: str) -> dict[str, float]:
        """How a side has talked so far; see `SpeakerFeatures.traits`."""
        return self._sides[speaker].traits()

    def _estimate(
        self,
        dimension: str,
        traits: tuple[dict[str, float], dict[str, float]],
        sides: tuple[SpeakerFeatures, SpeakerFeatures],
    ) -> Estimate:
        given = values(dimension, *traits)
        shares = [w * x for w, x in zip(self._weights.listed(dimension), given, strict=True)]
        value = self._weights.intercepts[dimension] + sum(shares)
        told = sorted(zip(shares, FEATURES[dimension], strict=True), key=lambda s: -abs(s[0]))
        signs = tuple(
            Sign(dimension, feature.name, share, _lines(feature.counts, sides))
            for share, feature in told[:_SIGNS]
            if abs(share) >= _TOLD
        )
        score = min(float(HIGH), max(float(LOW), value))
        if abs(score) < self._weights.bands[dimension]:
            why = say(
                "言葉からは読み取れません (手がかりが弱いか、食い違う)",
                "cannot be read from the words (cues are weak, or contradict one another)",
            )
            return Estimate(math.nan, why, signs, score)
        return Estimate(score, "", signs, score)

    def _other(self, speaker: str) -> str:
        first, second = self.speakers
        return {first: second, second: first}[speaker]


def _lines(
    counts: Sequence[str], sides: tuple[SpeakerFeatures, SpeakerFeatures]
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: dict[int, tuple[str, ...]] = {}
    for side in sides:
        for count in counts:
            for at, words in side.grounds.get(count, ()):
                found[at] = found.get(at, ()) + words
    return tuple(sorted(found.items()))[-4:]


def _too_little(name: str, sides: Sequence[SpeakerFeatures]) -> str:
    """Why these sides do not tell; "" if they do."""
    letters = sum(side.count("letters") for side in sides)
    japanese = sum(side.count("japanese") for side in sides)
    if letters and japanese < _JAPANESE * letters:
        return say(
            "推定器は日本語の会話用です (日本語以外の文字が多い)",
            "the estimator is for Japanese talk, and most of this is not",
        )
    if any(side.count("japanese") < LEAST for side in sides):
        return say("まだ発話が少なすぎます", "too little has been said yet")
    return ""


def course(
    lines: Iterable[tuple[str, str]],
    speakers: tuple[str, str],
    *,
    names: dict[str, str] | None = None,
    weights: Coefficients | None = None,
) -> list[tuple[SpeechReading, SpeechReading]]:
    """Both directions after each (speaker, text), by all that was said up to there."""
    state = SpeechEstimator(speakers, names=names, weights=weights)
    found = []
    for speaker, text in lines:
        state.add(speaker, text)
        found.append((state.reading(speakers[0]), state.reading(speakers[1])))
    return found


def estimate(
    lines: Iterable[tuple[str, str]],
    speakers: tuple[str, str],
    *,
    names: dict[str, str] | None = None,
    weights: Coefficients | None = None,
) -> tuple[SpeechReading, SpeechReading]:
    """Both directions over a whole dialogue: first → second, second → first."""
    state = SpeechEstimator(speakers, names=names, weights=weights)
    for speaker, text in lines:
        state.add(speaker, text)
    return state.reading(speakers[0]), state.reading(speakers[1])
