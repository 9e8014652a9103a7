"""Dialogues with known relationships, labelled by their author and blind by others.

The bundled ones (`load("tune")`, `load("test")`; `load_contrasts("dev")`, `…("test")`) were
written for naisei; their cards, `naisei/data/relationship_{dialogues,contrasts}/README.md`, say
how they were made and labelled. What fits an estimator reads `tune` and `dev`; `test` is for the
final measurement. Files of the same form are read
by `read_labelled`.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from naisei.clarify.data.records import read_rows
from naisei.core import InputError
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, RelationVector

Split = Literal["tune", "test"]
Side = Literal["A", "B"]
Relationship = Literal[
    "senior_junior",
    "boss_subordinate",
    "teacher_pupil",
    "service",
    "business",
    "family",
    "couple",
    "friends",
    "neighbours",
    "strangers",
]
Topic = Literal["task", "small_talk", "mixed"]

RELATIONSHIPS: tuple[Relationship, ...] = Relationship.__args__  # type: ignore[attr-defined]
TOPICS: tuple[Topic, ...] = Topic.__args__  # type: ignore[attr-defined]

Text = Annotated[str, Field(pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabelledSpeaker(_Part):
    """One of the two. id: `A` or `B`; name: as the dialogue shows it."""

    id: Side
    name: Text


class LabelledTurn(_Part):
    """One utterance."""

    speaker: Side
    text: Text


class Labels(_Part):
    """What each shows toward the other, from −3 to 3 in each dimension."""

    a_to_b: RelationVector
    b_to_a: RelationVector


Number = Annotated[int, Field(strict=True, ge=LOW, le=HIGH)]


class Seen(_Part):
    """What a reader saw of one direction; `None` where the lines do not say."""

    Power: Number | None
    Intimacy: Number | None
    TaskOriented: Number | None


class ReaderLabels(_Part):
    """What one blind reader saw of a dialogue."""

    a_to_b: Seen
    b_to_a: Seen


class _Dialogue(_Part):
    """setting: where. labels: the author's, as it ends."""

    id: Text
    setting: str = ""
    speakers: tuple[LabelledSpeaker, LabelledSpeaker]
    turns: Annotated[tuple[LabelledTurn, ...], Field(min_length=2)]
    labels: Labels

    @model_validator(mode="after")
    def _two(self) -> Self:
        first, second = self.speakers
        if (first.id, second.id) != ("A", "B"):
            raise ValueError("speakers are not A and B, in this order")
        if first.name == second.name:
            raise ValueError(f"both speakers are called {first.name!r}")
        if silent := {"A", "B"} - {turn.speaker for turn in self.turns}:
            raise ValueError(f"speaker {min(silent)} says nothing")
        return self

    def name(self, side: Side) -> str:
        """How the dialogue calls a speaker."""
        return self.speakers[0 if side == "A" else 1].name

    @property
    def text(self) -> str:
        """The dialogue as lines of `名前: 発話`."""
        return "\n".join(f"{self.name(turn.speaker)}: {turn.text}" for turn in self.turns)


D = TypeVar("D", bound=_Dialogue)


class LabelledDialogue(_Dialogue):
    """A dialogue of two, with its relationship.

    relationship, setting: which relationship, and where (`senior_junior` at `work`).
    topic: what the talk is mostly about. asymmetric: whether power is clearly unequal.
    """

    relationship: Relationship
    topic: Topic
    asymmetric: Annotated[bool, Field(strict=True)]

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.asymmetric and self.labels.a_to_b.Power == self.labels.b_to_a.Power:
            raise ValueError("asymmetric, but Power is the same in both directions")
        return self


class ContrastDialogue(_Dialogue):
    """A dialogue whose words may hide the attitude.

    contrast: how they do; empty for a plain one. early: the author's labels at the beginning,
    where the attitude changes. readers: blind, as it ends.
    """

    contrast: str = ""
    early: Labels | None = None
    readers: tuple[ReaderLabels, ReaderLabels]

    def known(self, way: Literal["a_to_b", "b_to_a"]) -> dict[str, float]:
        """Dimension → the median of the author's label and those of the readers who gave one."""
        author: RelationVector = getattr(self.labels, way)
        seen: list[Seen] = [getattr(reader, way) for reader in self.readers]
        return {
            name: float(
                median(v for one in (author, *seen) if (v := getattr(one, name)) is not None)
            )
            for name in DIMENSIONS
        }


def load(split: Split) -> tuple[LabelledDialogue, ...]:
    """The bundled dialogues of a split, in the order of the file.

    Raises:
        InputError: there is no such split.
    """
    if split not in ("tune", "test"):
        raise InputError(
            f"unknown split {split!r}", place="relationship_dialogues", remedy="use tune or test"
        )
    return _bundled("relationship_dialogues", split, LabelledDialogue)


def load_contrasts(split: Literal["dev", "test"]) -> tuple[ContrastDialogue, ...]:
    """The bundled dialogues whose words may hide the attitude, in the order of the file."""
    return _bundled("relationship_contrasts", split, ContrastDialogue)


def _bundled(folder: str, split: str, kind: type[D]) -> tuple[D, ...]:
    with as_file(files("naisei") / "data" / folder / f"{split}.jsonl") as path:
        return _read(path, kind)


def read_labelled(path: Path) -> tuple[LabelledDialogue, ...]:
    """All dialogues of a JSONL file, one object a line.

    Raises:
        InputError: the file cannot be read, a line is no labelled dialogue, or an id comes twice.
        The message names the line.
    """
    return _read(path, LabelledDialogue)


def _read(path: Path, kind: type[D]) -> tuple[D, ...]:
    found: dict[str, D] = {}
    for row in read_rows(path):
        try:
            dialogue = kind.model_validate(row.fields)
        except ValidationError as error:
            faults = [
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
                for fault in error.errors(include_url=False)[:3]
            ]
            raise InputError(
                f"this is no labelled dialogue: {'; '.join(faults)}",
                place=row.place,
                remedy="compare it with a line of the bundled tune.jsonl",
            ) from None
        if dialogue.id in found:
            raise InputError(
                f"the id {dialogue.id} came before",
                place=row.place,
                remedy="give every dialogue an id of its own",
            )
        found[dialogue.id] = dialogue
    return tuple(found.values())
