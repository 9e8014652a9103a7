"""Data classes of a conversation with relationship reflection.

Source: the relationship reflection document, §§2, 5.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector
from naisei.schema import model_field

#: The two speakers; `a` speaks first.
AgentId = Literal["a", "b"]
Direction = Literal["a_to_b", "b_to_a"]
AGENTS: tuple[AgentId, AgentId] = ("a", "b")
WAYS: tuple[Direction, Direction] = ("a_to_b", "b_to_a")
Text = Annotated[str, Field(min_length=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Questions(_Frozen):
    """Three high-level questions (HLQ), one per dimension; a JSON array of three is accepted."""

    Power: str = model_field(
        "上下や影響力についての問い", "Question on rank and influence", min_length=1
    )
    Intimacy: str = model_field(
        "近さや好意についての問い", "Question on closeness and liking", min_length=1
    )
    TaskOriented: str = model_field(
        "用件か雑談かについての問い", "Question on task or small talk", min_length=1
    )

    @model_validator(mode="before")
    @classmethod
    def _array(cls, value: Any) -> Any:
        if isinstance(value, list):
            if len(value) != len(DIMENSIONS):
                raise ValueError(f"exactly three questions, not {len(value)}")
            return dict(zip(DIMENSIONS, value, strict=True))
        return value

    @property
    def listed(self) -> tuple[str, str, str]:
        """The questions in the order of `DIMENSIONS`."""
        return self.Power, self.Intimacy, self.TaskOriented


class Summary(_Frozen):
    """The summary of a session, at most three sentences."""

    summary: str = model_field(
        "覚え書き。3文以内、150字以内", "The note: three sentences, 60 words at most", min_length=1
    )


class Importances(_Frozen):
    """One whole number from 1 to 10 for each line, in their order."""

    importances: tuple[Annotated[int, Field(ge=1, le=10)], ...] = model_field(
        "発言の番号の順に、1 から 10", "1 to 10 for each line, in their order"
    )


class CitedEntry(_Frozen):
    """One entry of the evidence. id: in the memory stream. number: in the prompt.

    score: ranking score; relevance, importance, recency: its normalised parts, 0 to 1 (relevance 0
    without an embedding). source: `session` (from 1) and `turn` (from 0) of an utterance.
    """

    id: str
    number: int
    speaker: str
    text: str
    score: float
    relevance: float = 0.0
    importance: float = 0.0
    recency: float = 0.0
    source: JsonValue = None


class Reflection(_Frozen):
    """One reflection in one direction: questions, evidence, prompt and reading.

    time: dialogue clock. wall: wall-clock time, only in the log, so that results are
    reproducible. prompt: the full prompt; empty if generating the questions failed.
    """

    direction: Direction
    time: datetime
    wall: datetime | None = None
    questions: Questions | None
    evidence: tuple[CitedEntry, ...] = ()
    prompt: str = ""
    reading: Reading

    @property
    def cited(self) -> frozenset[str]:
        """Ids of the cited evidence."""
        return frozenset(id for reason in self.reading.reasons for id in reason.evidence)


class Stance(_Frozen):
    """The latest reading of a direction. carried: from an earlier turn (session, turn)."""

    reading: Reading
    carried: bool = False
    session: int
    turn: int


class Moment(_Frozen):
    """The state of both directions at one point: after a turn, or at a session's start.

    turn: the last utterance, from 0; also 0 at the session's start (see `at`). injected: whether
    the next speaker's prompt gets the reading. stances: the latest of both directions.
    reflections: those made now.
    """

    session: int
    turn: int
    at: Literal["session_start", "after_turn"]
    next_speaker: AgentId
    injected: bool
    stances: dict[Direction, Stance]
    reflections: tuple[Reflection, ...] = ()


class Line(_Frozen):
    """One utterance. id: as in streams and evidence. injected: whether the prompt contained the
    speaker's reading; prompt_vector: its faded value."""

    id: str
    session: int
    turn: int
    speaker: AgentId
    text: str
    time: datetime
    injected: bool = False
    prompt_vector: RelationVector | None = None


class Session(_Frozen):
    """One dated session. number: from 1. summary: empty if off or failed (`summary_failure`).
    rating_failures: batches whose importance a model failed to rate; the rule's values stay."""

    number: int
    start: datetime
    lines: tuple[Line, ...] = ()
    moments: tuple[Moment, ...] = ()
    summary: str = ""
    summary_failure: str = ""
    rating_failures: int = 0


class Conversation(_Frozen):
    """All sessions of one pair. names: display names of `a` and `b`."""

    pair: str
    language: Literal["ja", "en"]
    names: dict[AgentId, str]
    sessions: tuple[Session, ...] = ()
