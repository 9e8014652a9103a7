"""What a scorer reads of a moment: `<inventory count> <inventory> <cookbook> <environment>`.

Source: the text-game thesis, §§5.2.1, 6.2.3. The action is the second part of the pair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from naisei.textgame.reading import read_foods
from naisei.textgame.schemas import View

__all__ = ["Situation", "cookbook_text", "fit"]

_SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"^\s*-= .+? =-\s*")
T = TypeVar("T")


class Situation(BaseModel):
    """The texts of a moment. cookbook: empty until it was read.

    fresh: directions from here that nobody has gone. toward: the direction in which the nearest
    such way lies, if none is here; empty if there is none at all. These two are of the map, no
    part of the text that the thesis's scorer reads.
    """

    model_config = ConfigDict(frozen=True)

    inventory: str = ""
    cookbook: str = ""
    room: str = ""
    description: str = ""
    fresh: tuple[str, ...] = ()
    toward: str = ""

    @classmethod
    def of(
        cls, view: View, cookbook: str, *, fresh: tuple[str, ...] = (), toward: str = ""
    ) -> Situation:
        return cls(
            fresh=fresh,
            toward=toward,
            inventory=view.inventory,
            cookbook=cookbook,
            room=view.room,
            description=_HEADING.sub("", view.description),
        )

    @property
    def held(self) -> str:
        """How many things are held, and what the game says of them."""
        return _flat(f"{len(read_foods(self.inventory))} {self.inventory}")

    @property
    def possessions(self) -> str:
        """The part that is never cut short while the environment can be."""
        return _flat(f"{self.held} {self.cookbook}")

    @property
    def environment(self) -> str:
        """Name of the room, and what is to be seen in it."""
        return _flat(f"{self.room}. {self.description}")

    @property
    def text(self) -> str:
        """Both parts, as the encoder's first segment."""
        return f"{self.possessions} {self.environment}"


def cookbook_text(answer: str) -> str:
    """The recipe in the answer to `examine cookbook`, line by line, without what stands around.

    Empty where the answer holds none.
    """
    _, found, rest = answer.partition("Ingredients:")
    if not found:
        return ""
    body, meal, _ = rest.partition("prepare meal")
    lines = f"{found}{body}{meal}".splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


def fit(
    possessions: Sequence[T], environment: Sequence[T], action: Sequence[T], *, limit: int
) -> tuple[list[T], list[T]]:
    """The first segment and the action within `limit` tokens together.

    The end of the environment goes first (§5.2.1); where that is not enough, the end of the
    possessions; the action is cut only where it is longer than the limit by itself.
    """
    second = list(action[:limit])
    room = limit - len(second)
    first = list(possessions[:room])
    return first + list(environment[: room - len(first)]), second


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
