"""Feedback augmentation: the game's answer with a word on whether the command did any good.

Source: the text-game thesis, §3.2.2. A misplaced thing is answered like a well placed one, only
that no point follows; a model overlooks what is not said.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["REFUSED", "RIGHT_PLACE", "RIGHT_STEP", "WRONG_PLACE", "Feedback", "Kind", "placed"]

#: What is spoken of: right and wrong places, right and refused steps, or nothing.
Kind = Literal["tidying", "cooking", "none"]

RIGHT_PLACE = "This is its right place."
WRONG_PLACE = "This is a wrong place for it: it belongs somewhere else, perhaps in the other room."
RIGHT_STEP = "This was a right step."
REFUSED = "Nothing was done: something else has to come first."

_PLACED = re.compile(r"(?:put|insert) (?P<thing>.+?) (?:on|onto|in|into) (?P<place>.+)")
#: How the engine begins when it refuses a command.
_REFUSAL = re.compile(
    r"(You(['’]re| are) (already )?carrying too many|You (can only|cannot|need|have to|must)\b"
    r"|You (ca|do)n['’]t\b|That['’]s not|That is not|I didn['’]t|Nothing |Which do you mean)",
    re.I,
)


def placed(action: str) -> tuple[str, str] | None:
    """Thing and place of a command that puts something somewhere."""
    match = _PLACED.fullmatch(action)
    return (match["thing"], match["place"]) if match else None


class Feedback:
    """Adds its word to each answer of a game in turn."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._right: set[tuple[str, str]] = set()

    def word(self, action: str, answer: str, gained: int) -> str:
        """What is added after `answer`; empty where there is nothing to say.

        gained: points that the command brought.
        """
        if self._kind == "tidying":
            if (pair := placed(action)) is None:
                return ""
            if gained > 0:
                self._right.add(pair)
            # A thing that is put back where it had been right earns no second point.
            return RIGHT_PLACE if pair in self._right else WRONG_PLACE
        if self._kind == "cooking":
            if gained > 0:
                return RIGHT_STEP
            return REFUSED if _REFUSAL.match(answer) else ""
        return ""
