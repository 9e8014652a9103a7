"""What a rating by a model is: the dialogue itself and all that changes the result, frozen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from naisei.relationship.dialogues import Dialogue, Utterance
from naisei.relationship.persona import Pair, Persona
from naisei.relationship.rules import Rules

__all__ = ["RatedLine", "RatingConfig"]

_UNKNOWN = {"ja": "(手がかりなし。会話から読み取る)", "en": "(unknown; to be read from the talk)"}


class RatedLine(BaseModel):
    """One line of the dialogue as it was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session: int
    turn: int
    speaker: str
    text: str


class RatingConfig(BaseModel):
    """A dialogue rated turn by turn. The lines are part of it: resuming needs no other file.

    repeats: independent ratings, each an episode. votes: readings of which each rating is the
    median (self-consistency). models: role (`questioner`, `reflector`) → `provider:name`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Literal["rating"] = "rating"
    name: str
    speakers: tuple[str, str]
    personas: dict[str, str] = {}
    language: Literal["ja", "en"] = "ja"
    lines: Annotated[tuple[RatedLine, ...], Field(min_length=1)]
    repeats: Annotated[int, Field(ge=1)] = 1
    votes: Annotated[int, Field(ge=1)] = 1
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    embedder: str = "ngram"
    seed: int = 0

    @property
    def dialogue(self) -> Dialogue:
        """The dialogue as it was read."""
        return Dialogue(
            self.name,
            self.speakers,
            tuple(Utterance(x.session, x.turn, x.speaker, x.text) for x in self.lines),
            dict(self.personas),
        )

    @property
    def pair(self) -> Pair:
        """The two as personas: what the file says of them, and no more."""
        a, b = (
            Persona(name=name, persona=self.personas.get(name, "") or _UNKNOWN[self.language])
            for name in self.speakers
        )
        return Pair(id="dialogue", title=self.name or "dialogue", language=self.language, a=a, b=b)

    @property
    def rules(self) -> Rules:
        """The rules of reflection: sessions of equal places on the clock."""
        longest = max(line.turn for line in self.lines) + 1
        last = max(line.session for line in self.lines)
        return Rules(sessions=last, turns=longest, reflection="turn", inject=False)
