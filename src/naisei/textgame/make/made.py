"""What is known of a generated game: a line of its folder's manifest."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["MANIFEST", "Made"]

#: One JSON line a game.
MANIFEST = "manifest.jsonl"


class Made(BaseModel):
    """One game of a generated set.

    file: name of the `.z8` in the folder. settings: the skills or the level it was asked for.
    seeds: of the generator. max_score: points. walkthrough: commands of the generator's own
    solution.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    family: str
    split: str
    settings: dict[str, int | bool | str]
    seeds: dict[str, int]
    max_score: int
    walkthrough: int
