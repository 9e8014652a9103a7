"""The verdict on one line: the checks in a fixed order, and the tone score.

Source: the retry-judgement specification, §§1, 3, 4.1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

from pydantic import JsonValue

from naisei.core import Check, Status
from naisei.runs.lines import lines_html

#: The hard rules of the specification, §3. Each may return WARN or RETRY.
HARD_CHECKS = ("format", "setting", "praise", "scatter", "logic", "tone")
#: All checks in the order of `LineVerdict.checks`; the last three never return RETRY (§8).
CHECK_NAMES = (*HARD_CHECKS, "loop", "jump", "script")
#: How lines are judged: by rules calibrated on natural speech, or exactly by the specification.
RuleSet = Literal["calibrated", "spec"]
#: Safe automatic fixes, in the order of application.
MEND_NAMES = ("blank-lines", "envelope", "directions", "wrapper", "marks")


@dataclass(frozen=True, slots=True)
class Tone:
    """The tone score: the sum of its parts (§4), or measured by a voice.

    score: 0 to 3. marker, vocab, style: 0 or 1 each; `None` for a part that the profile omits or
    that was not computed; it is ignored. See `Tone.status`. weight: the line's weight by the
    character's voice, above 0 own, below 0 another's; `None` with the specification's parts.
    """

    score: int
    marker: int | None
    vocab: int | None
    style: int | None
    weight: float | None = None

    @staticmethod
    def measured(score: int, weight: float) -> Tone:
        return Tone(score, None, None, None, weight)

    @staticmethod
    def of(marker: int | None, vocab: int | None, style: int | None) -> Tone:
        return Tone((marker or 0) + (vocab or 0) + (style or 0), marker, vocab, style)

    @property
    def parts(self) -> int:
        """How many parts the profile has: 0 to 3."""
        return sum(part is not None for part in (self.marker, self.vocab, self.style))

    @property
    def status(self) -> Status:
        """PASS for two hits or all parts, RETRY for no hit, else WARN.

        With three parts this is §4.1. A profile with one or two parts needs all of them; a profile
        without parts passes every line.
        """
        if self.score >= (2 if self.weight is not None else min(2, self.parts)):
            return Status.PASS
        return Status.WARN if self.score else Status.RETRY


class LineVerdict(NamedTuple):
    """A line judged by the hard rules and the three warnings.

    status: the worst of `checks`, MODIFY for a line that passes with `mends`. checks: one for
    each of `CHECK_NAMES`, in that order, and `judge` if a model judged; evidence quotes the
    original text. sentences, topics: as counted for the scatter check. mends: the applied fixes,
    from `MEND_NAMES`; text: the fixed line. character: the profile's id.
    """

    status: Status
    checks: tuple[Check, ...]
    tone: Tone
    sentences: int
    topics: int
    mends: tuple[str, ...]
    text: str
    character: str

    def _repr_html_(self) -> str:
        from naisei.director.lines import verdict_line

        return lines_html([verdict_line(self)])

    def check(self, name: str) -> Check:
        """The check of this name.

        Raises:
            KeyError: no check has this name.
        """
        for found in self.checks:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_json(self) -> dict[str, JsonValue]:
        """`{"status", "checks", "tone", "sentences", "topics", "mends", "text", "character"}`."""
        return {
            "status": self.status.value,
            "checks": [c.model_dump(mode="json") for c in self.checks],
            "tone": asdict(self.tone),
            "sentences": self.sentences,
            "topics": self.topics,
            "mends": list(self.mends),
            "text": self.text,
            "character": self.character,
        }
