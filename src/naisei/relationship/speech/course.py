"""The estimator: read a dialogue line by line, and say after any line how the two stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from naisei.lang import say
from naisei.relationship.speech.features import FEATURES, values
from naisei.relationship.speech.heard import hear
from naisei.relationship.speech.reading import Estimate, Sign, SpeechReading
from naisei.relationship.speech.tally import Tally
from naisei.relationship.speech.weights import Weights, load_weights
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW

__all__ = ["Course", "course", "estimate"]

#: Japanese characters a side must have said, for its manner to be heard at all.
LEAST = 8
#: Share of letters that must be Japanese.
_JAPANESE = 0.5
#: Signs told with a number, strongest first.
_SIGNS = 4
_TOLD = 0.05


class Course:
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
        weights: Weights | None = None,
    ) -> None:
        if speakers[0] == speakers[1]:
            raise ValueError(f"two speakers are needed, not {speakers[0]!r} twice")
        self.speakers = speakers
        self._names = {s: (names or {}).get(s, s) for s in speakers}
        self._weights = load_weights() if weights is None else weights
        self._sides = {s: Tally() for s in speakers}
        self._at = 0

    def add(self, speaker: str, text: str) -> None:
        """Hear one line. `KeyError` for a speaker who is none of the two."""
        heard = hear(text, self._names[speaker], self._names[self._other(speaker)])
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
        """How a side has talked so far; see `Tally.traits`."""
        return self._sides[speaker].traits()

    def _estimate(
        self,
        dimension: str,
        traits: tuple[dict[str, float], dict[str, float]],
        sides: tuple[Tally, Tally],
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
        return Estimate(min(float(HIGH), max(float(LOW), value)), "", signs)

    def _other(self, speaker: str) -> str:
        first, second = self.speakers
        return {first: second, second: first}[speaker]


def _lines(
    counts: Sequence[str], sides: tuple[Tally, Tally]
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: dict[int, tuple[str, ...]] = {}
    for side in sides:
        for count in counts:
            for at, words in side.grounds.get(count, ()):
                found[at] = found.get(at, ()) + words
    return tuple(sorted(found.items()))[-4:]


def _too_little(name: str, sides: Sequence[Tally]) -> str:
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
    weights: Weights | None = None,
) -> list[tuple[SpeechReading, SpeechReading]]:
    """Both directions after each (speaker, text), by all that was said up to there."""
    state = Course(speakers, names=names, weights=weights)
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
    weights: Weights | None = None,
) -> tuple[SpeechReading, SpeechReading]:
    """Both directions over a whole dialogue: first → second, second → first."""
    state = Course(speakers, names=names, weights=weights)
    for speaker, text in lines:
        state.add(speaker, text)
    return state.reading(speakers[0]), state.reading(speakers[1])
