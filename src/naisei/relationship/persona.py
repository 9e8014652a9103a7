"""Personas and pairs as data: who they are, how they address each other, what is so.

A pair is one TOML file, or two files of one persona each.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

__all__ = ["Pair", "Persona", "Relationship"]

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
Relationship = Literal["senior_junior", "friends", "strangers", "service", "family", "other"]


class _Part(BaseModel):
    """Frozen; an unknown key is an error, so that a misspelt one is not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Persona(_Part):
    """One of the two. name: shown, and the speaker's name in every file.

    persona: who they are, for the prompts. calls: how they address the other (「高橋さん」);
    empty leaves it to the model. speech: how they speak. facts: what is so of them; they start
    in the memory of the persona, one entry each.
    """

    schema_: Literal["naisei.persona.v1"] = Field(default="naisei.persona.v1", alias="schema")
    name: Text
    persona: Text
    calls: str = ""
    speech: str = ""
    facts: tuple[Text, ...] = ()


class Pair(_Part):
    """Two who talk with each other; `a` speaks first.

    relationship: what kind it is (a label for tables, in no prompt). setting: where and when
    they meet. topics: one a session in turn, what they may come to talk about; may be empty.
    """

    schema_: Literal["naisei.pair.v1"] = Field(default="naisei.pair.v1", alias="schema")
    id: Identifier
    title: Text
    language: Literal["ja", "en"] = "ja"
    relationship: Relationship = "other"
    setting: str = ""
    topics: tuple[Text, ...] = ()
    a: Persona
    b: Persona

    @model_validator(mode="after")
    def _two_names(self) -> Pair:
        if self.a.name == self.b.name:
            raise ValueError(f"both are called {self.a.name!r}; lines could not be told apart")
        return self

    @property
    def names(self) -> dict[Literal["a", "b"], str]:
        """Agent → name."""
        return {"a": self.a.name, "b": self.b.name}
