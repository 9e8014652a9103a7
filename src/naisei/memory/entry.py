"""Entries of a stream, search results, and the block of evidence for a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Kind = Literal["utterance", "reflection", "fact", "summary"]
#: Rankings: by the question, or by Park et al.'s sum (2023).
Ranking = Literal["query", "park"]


class Entry(BaseModel):
    """One memory.

    Args:
        id: unique in its stream.
        time: when it happened; a stream holds either naive or aware times, not both.
        speaker: who said or felt it; empty for facts without one.
        importance: 1 (mundane) to 10 (poignant).
        source: where the line stands (session, turn), for the chain from a score back to it.
        of: for a summary, ids of the entries that it replaces once they have faded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(min_length=1)]
    time: datetime
    speaker: str = ""
    kind: Kind = "utterance"
    text: str
    importance: Annotated[int, Field(ge=1, le=10)] = 5
    source: JsonValue = None
    of: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """`[話者] 本文` on one line, as evidence shows it."""
        text = " ".join(self.text.split())
        return f"[{self.speaker}] {text}" if self.speaker else text


class ScoreWeights(BaseModel):
    """How the three parts are weighed; `stream.v1` is the sum with equal weights.

    Args:
        relevance, importance, recency: ≥ 0; a part with weight 0 leaves the sum.
        decay: the factor of recency per hour, in (0, 1].
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal["stream.v1"] = "stream.v1"
    relevance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    importance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    recency: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    decay: Annotated[float, Field(gt=0, le=1)] = 0.995


class Part(BaseModel):
    """One part of a score: as measured, and min-max normalised over the entries searched.

    Args:
        raw: cosine −1…1, importance 1…10, or decay^hours 0…1; `None` if there is none (no
            vectors, or none for this entry).
        normalised: 0…1; 0 where all entries are equal, or where `raw` is `None`.
    """

    model_config = ConfigDict(frozen=True)

    raw: float | None
    normalised: float


class Scored(BaseModel):
    """An entry with its score: the weighted sum of the three normalised parts."""

    model_config = ConfigDict(frozen=True)

    entry: Entry
    score: float
    relevance: Part
    importance: Part
    recency: Part


#: About the size used by the relationship-reflection method.
LIMIT = 2200


class EvidenceBlock(BaseModel):
    """`lines[i]` is `"{i+1}. …"` and shows `chosen[i]`, oldest first."""

    model_config = ConfigDict(frozen=True)

    lines: tuple[str, ...] = ()
    chosen: tuple[Scored, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Entry ids, in the order of the lines."""
        return tuple(one.entry.id for one in self.chosen)

    @property
    def text(self) -> str:
        """The lines joined by line breaks; empty without evidence."""
        return "\n".join(self.lines)


def evidence(
    scored: Iterable[Scored],
    *,
    limit: int = LIMIT,
    line: Callable[[Entry], str] = lambda entry: entry.line,
) -> EvidenceBlock:
    """The best entries whose lines, with line breaks, fit into `limit` (≥ 1) characters: chosen
    by score, shown in order of time.

    Stops at the first entry that does not fit, so that no weaker entry replaces a better one. If
    the best alone does not fit, it is cut and ends in `…`. line: renders an entry.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    chosen: list[Scored] = []
    used = 0
    for n, one in enumerate(scored, 1):
        shown = f"{n}. {line(one.entry)}"
        used += len(shown) + (1 if chosen else 0)
        if used > limit:
            if not chosen:
                return EvidenceBlock(lines=(shown[: limit - 1] + "…",), chosen=(one,))
            break
        chosen.append(one)
    chosen.sort(key=lambda one: one.entry.time)
    lines = tuple(f"{n}. {line(one.entry)}" for n, one in enumerate(chosen, 1))
    return EvidenceBlock(lines=lines, chosen=tuple(chosen))
