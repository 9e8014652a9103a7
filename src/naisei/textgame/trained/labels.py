"""Which actions are wrong: the labels of the classifier's training set, and what they are of.

Source: the text-game thesis, §§5.2.2, 5.2.3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pydantic import BaseModel, ConfigDict

__all__ = ["ProcessingExample", "is_processing", "processing_examples"]

_PROCESSING = re.compile(r"^(?:cook .+ with .+|(?:slice|dice|chop) .+ with knife)$")


class ProcessingExample(BaseModel):
    """A cookbook and an action that cooks or cuts. wrong: 1 unless the walkthrough has it."""

    model_config = ConfigDict(frozen=True)

    game: str
    cookbook: str
    action: str
    wrong: int


def is_processing(action: str) -> bool:
    """Whether it is `cook … with …` or `slice|dice|chop … with knife`."""
    return _PROCESSING.match(action) is not None


def processing_examples(
    game: str, cookbook: str, candidates: Iterable[Iterable[str]], walkthrough: Collection[str]
) -> list[ProcessingExample]:
    """Every processing action among a game's candidates, once; none without a cookbook.

    candidates: of each state that the walkthrough passes.
    """
    if not cookbook:
        return []
    actions = dict.fromkeys(a for state in candidates for a in state if is_processing(a))
    return [
        ProcessingExample(game=game, cookbook=cookbook, action=a, wrong=int(a not in walkthrough))
        for a in actions
    ]
