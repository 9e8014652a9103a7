"""The relation vector: a speaker's stance toward the partner as three integers, and in words.

Source: the relationship reflection document, §§1, 4, 5. Malformed numbers are repaired and the
repair is recorded; unreadable numbers fail.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
    model_validator,
)

from naisei.lang import say
from naisei.near_json import number_of
from naisei.schema import model_field

#: The order of dimensions in every vector, prompt and table.
DIMENSIONS = ("Power", "Intimacy", "TaskOriented")
#: Bounds of the scale.
LOW, HIGH = -3, 3


def away_from_zero(value: float) -> int:
    """Round to an integer, halves away from 0."""
    return int(math.copysign(abs(value) + 0.5, value))


class RelationVector(BaseModel):
    """The stance of `src` toward `dst`; three integers from −3 to 3.

    Power: feels above the other (+) or below (−). Intimacy: close (+) or distant (−).
    TaskOriented: the exchange is about a task (+) or small talk (−).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    Power: Annotated[int, Field(strict=True, ge=LOW, le=HIGH)]
    Intimacy: Annotated[int, Field(strict=True, ge=LOW, le=HIGH)]
    TaskOriented: Annotated[int, Field(strict=True, ge=LOW, le=HIGH)]

    @property
    def values(self) -> tuple[int, int, int]:
        """The three numbers in the order of `DIMENSIONS`."""
        return self.Power, self.Intimacy, self.TaskOriented


class Repair(BaseModel):
    """One repaired number. raw: what the model wrote. why: `rounded`, `read from text`, or both."""

    model_config = ConfigDict(frozen=True)

    dimension: str
    raw: JsonValue
    used: int
    why: str


class Reason(BaseModel):
    """The reason of a number: one sentence and its evidence.

    evidence: ids of stream entries. unknown: cited numbers that match no entry.
    """

    model_config = ConfigDict(frozen=True)

    dimension: str
    text: str
    evidence: tuple[str, ...] = ()
    unknown: tuple[int, ...] = ()


class Reading(BaseModel):
    """The result of a reading: the vector, or `None` with the reason in `failure`.

    reasons: one per dimension; empty if a model gave only numbers. A failed reading is not
    injected, and is counted separately instead of as 0.
    """

    model_config = ConfigDict(frozen=True)

    vector: RelationVector | None = None
    reasons: tuple[Reason, ...] = ()
    repairs: tuple[Repair, ...] = ()
    failure: str = ""

    @staticmethod
    def failed(why: str) -> Reading:
        """A reading that failed because of `why`."""
        return Reading(failure=why or "no reason given")


def _readable(value: Any) -> int | float | str:
    """Return the unchanged value; raises `ValueError` if it contains no number."""
    _read(value)
    return value  # type: ignore[no-any-return]


ScaleNumber = Annotated[
    int | float | str,
    BeforeValidator(_readable),
    WithJsonSchema({"type": "integer", "minimum": LOW, "maximum": HIGH}),
]


class DimensionReply(BaseModel):
    """One dimension: evidence, reason, then the number.

    A bare number is accepted as a value without a reason.
    """

    model_config = ConfigDict(frozen=True)

    evidence: tuple[Annotated[int, Field(ge=0)], ...] = model_field(
        "根拠のうち、この値を決めた番号。多くて4つ、なければ空",
        "Numbers of the evidence that decides it; four at most, none if there is none",
    )
    reason: str = model_field(
        "その根拠から言えること。二人の名を挙げ、だれがだれに何をしたかを1文",
        "What they show: one sentence that names both, and says who did what to whom",
    )
    value: ScaleNumber = model_field("言葉の目盛りで当たる値", "The value whose words fit")

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        if isinstance(value, dict | DimensionReply):
            return value
        return {"evidence": (), "reason": "", "value": value}


class VectorReply(BaseModel):
    """Three numbers from −3 to 3, each with its evidence and reason.

    `read` repairs 1.4, "+2" and "２" on record; 7, "high", true, null, NaN and a missing number
    are refused, and the gateway asks once more.
    """

    model_config = ConfigDict(frozen=True)

    Power: DimensionReply = model_field("力関係", "Power")
    Intimacy: DimensionReply = model_field("親密度", "Intimacy")
    TaskOriented: DimensionReply = model_field("タスク指向", "Task orientation")

    def read(self, evidence: Sequence[str] = ()) -> Reading:
        """The vector, its reasons and repairs. evidence: entry ids by their number from 1."""
        replies: dict[str, DimensionReply] = {name: getattr(self, name) for name in DIMENSIONS}
        numbers = {name: _read(one.value) for name, one in replies.items()}
        return Reading(
            vector=RelationVector(**{name: used for name, (used, _) in numbers.items()}),
            reasons=tuple(
                _reason(name, one, evidence)
                for name, one in replies.items()
                if one.reason.strip() or one.evidence
            ),
            repairs=tuple(
                Repair(dimension=name, raw=replies[name].value, used=used, why=why)
                for name, (used, why) in numbers.items()
                if why
            ),
        )


def _reason(name: str, reply: DimensionReply, evidence: Sequence[str]) -> Reason:
    cited = tuple(dict.fromkeys(reply.evidence))
    known = [n for n in cited if 1 <= n <= len(evidence)]
    return Reason(
        dimension=name,
        text=" ".join(reply.reason.split()),
        evidence=tuple(evidence[n - 1] for n in known),
        unknown=tuple(n for n in cited if n not in known),
    )


def _read(value: Any) -> tuple[int, str]:
    """Return the integer and its repair ("" if none). Raises `ValueError` outside the scale."""
    number = number_of(value)
    if number is None or not LOW <= number <= HIGH:
        raise ValueError(f"{str(value)[:40]!r} is no whole number from -3 to 3")
    used = away_from_zero(number)
    done = ["read from text"] if isinstance(value, str) else []
    return used, ", ".join([*done, *(["rounded"] if used != number else [])])


#: Dimension → its name in Japanese.
NAMES_JA = {"Power": "力関係", "Intimacy": "親密度", "TaskOriented": "タスク指向"}


def dimension_name(dimension: str) -> str:
    """A dimension in the user's language."""
    english = "Task orientation" if dimension == "TaskOriented" else dimension
    return say(NAMES_JA[dimension], english)


_JA = {
    "Power": ("すっかり従う", "従う立場", "やや下手", "対等", "やや優位", "優位", "強く優位"),
    "Intimacy": (
        "拒んでいる",
        "よそよそしい",
        "やや距離がある",
        "ふつう",
        "やや親しい",
        "親しい",
        "とても親しい",
    ),
    "TaskOriented": (
        "雑談のみ",
        "おもに雑談",
        "やや雑談寄り",
        "半々",
        "やや用件寄り",
        "おもに用件",
        "用件のみ",
    ),
}
_EN = {
    "Power": ("wholly submissive", "deferent", "slightly lower", "equal", "slightly above",
              "dominant", "strongly dominant"),
    "Intimacy": ("hostile", "aloof", "slightly distant", "neutral", "slightly close", "close",
                 "very close"),
    "TaskOriented": ("small talk only", "mostly small talk", "rather small talk", "half and half",
                     "rather the task", "mostly the task", "the task only"),
}  # fmt: skip


def degree(dimension: str, value: int, language: str) -> str:
    """The word for a value from −3 to 3."""
    return (_JA if language == "ja" else _EN)[dimension][value + 3]


def scale(dimension: str, language: str) -> str:
    """The seven anchors in one line: `-3 すっかり従う、-2 従う立場、…`."""
    joint = "、" if language == "ja" else ", "
    return joint.join(f"{v} {degree(dimension, v, language)}" for v in range(LOW, HIGH + 1))


def faded(
    vector: RelationVector, base: RelationVector, days: float, half: Mapping[str, float]
) -> RelationVector:
    """Fade a reading by `days`: each number decays toward the base, rounded half away from 0.

    half: dimension → half-life in days of the distance from the base.
    """
    left = {}
    for name in DIMENSIONS:
        start, end = getattr(vector, name), getattr(base, name)
        value = end + (start - end) * 0.5 ** (max(days, 0.0) / half[name])
        left[name] = away_from_zero(value)
    return RelationVector(**left)


def signed(value: int) -> str:
    """`+2`, `-1`, `0`."""
    return f"{value:+d}" if value else "0"


def worded(vector: RelationVector, language: str) -> list[str]:
    """One text per dimension: `Power: -2（従う立場）`."""
    marks = "（）" if language == "ja" else "()"
    space = "" if language == "ja" else " "
    return [
        f"{name}: {signed(value)}{space}{marks[0]}{degree(name, value, language)}{marks[1]}"
        for name, value in zip(DIMENSIONS, vector.values, strict=True)
    ]
