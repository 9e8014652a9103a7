"""What was learned from own play: counts only, in a small file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text
from naisei.textgame.planner.kitchen import Prior

__all__ = ["VERSION", "Knowledge", "Offer", "Tally", "load"]

VERSION = 1
_SEPARATOR = "|"


class _Counts(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Tally(_Counts):
    """How often a command brought a point, lost the game, or neither, where it was clear for which
    direction. What may have been for several is shared among them, but points are `puzzles`."""

    gained: float = Field(default=0, ge=0)
    lost: float = Field(default=0, ge=0)
    nothing: float = Field(default=0, ge=0)


class Offer(_Counts):
    """In how many moments a command was offered; in how many of them what it is done with was
    held; and in which rooms."""

    times: int = 0
    held: int = 0
    rooms: dict[str, int] = {}


class Knowledge(_Counts):
    """version: of this format. games: how many were played to learn it; seed, caution: how.

    rules: goal → template → tally; a goal is a direction's verb, or one of `beliefs`.
    puzzles: goals open on an ingredient → templates that brought points on it → how often; each
    side joined by `|`. Which was for which is left open (`credit`).
    marks: verb → word → how often it stood before an ingredient's name for the first time when
    the direction brought its point. offers: template → when it was offered. limits: number of
    ingredients → things held when no more could be taken → count. houses: rooms and where
    things lie.
    """

    version: int = VERSION
    games: int = 0
    seed: int = 0
    caution: bool = True
    rules: dict[str, dict[str, Tally]] = {}
    puzzles: dict[str, dict[str, int]] = {}
    marks: dict[str, dict[str, int]] = {}
    offers: dict[str, Offer] = {}
    limits: dict[str, dict[str, int]] = {}
    houses: Prior = Field(default_factory=Prior)

    def tally(self, goal: str, template: str) -> Tally:
        """The counts of a pair, to be read and raised."""
        return self.rules.setdefault(goal, {}).setdefault(template, Tally())

    def puzzle(self, goals: Sequence[str], templates: Sequence[str], times: int) -> None:
        """Count a puzzle so many times more; −1 takes one back."""
        row = self.puzzles.setdefault(_SEPARATOR.join(goals), {})
        name = _SEPARATOR.join(templates)
        row[name] = row.get(name, 0) + times
        if not row[name]:
            del row[name]

    def puzzle_counts(self) -> Iterator[tuple[list[str], list[str], int]]:
        """All puzzles as (goals, templates, times)."""
        for goals, row in self.puzzles.items():
            for templates, times in row.items():
                yield goals.split(_SEPARATOR), templates.split(_SEPARATOR), times

    def text(self) -> str:
        """As the file holds it."""
        return self.model_dump_json() + "\n"


def load(path: Path) -> Knowledge:
    """Raises:
    InputError: no such file, or it holds no knowledge of this version.
    """
    remedy = say(
        "naisei textgame learn --games DIR --out FILE で作れます",
        "naisei textgame learn --games DIR --out FILE makes one",
    )
    text = read_text(path, remedy=remedy)
    try:
        known = Knowledge.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            say("学んだことのファイルではありません: ", "this is no learned knowledge: ")
            + error.errors()[0]["msg"],
            place=str(path),
            remedy=remedy,
        ) from None
    if known.version != VERSION:
        raise InputError(
            say(
                f"ファイルのバージョンが {known.version} です。読めるのは {VERSION} です",
                f"the knowledge is of version {known.version}, and {VERSION} is read",
            ),
            place=str(path),
            remedy=remedy,
        )
    return known
