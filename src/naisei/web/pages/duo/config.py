"""What a talk at the page depends on, frozen when it begins."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from naisei.director.character import parse_character
from naisei.director.profile import Character
from naisei.director.rules import TalkRules

__all__ = ["LONGEST", "DuoConfig"]

#: Turns of the longest talk.
LONGEST = 40


class DuoConfig(BaseModel):
    """profiles: the two as TOML, in the order in which they speak. played: ids of those whose
    lines the person writes; the others' come from the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profiles: tuple[str, str]
    played: tuple[str, ...] = ()
    topic: str = ""
    scene: str = ""
    turns: int = Field(default=8, ge=1, le=LONGEST)
    rules: TalkRules
    model: str | None = None

    @property
    def cast(self) -> tuple[Character, ...]:
        """The characters of the profiles. Raises `InputError` for what is none."""
        return tuple(_parsed(text) for text in self.profiles)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Character:
    return parse_character(text, place="profile")
