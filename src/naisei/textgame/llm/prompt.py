"""The prompt of one step.

Source: the text-game thesis, §§3.2.1, 3.2.3: task, example, history, inventory and surroundings
are the system message; candidates, question and template the user's. What changes least comes
first, so that a server can keep the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei import prompts
from naisei.core import Message, system, user
from naisei.textgame.llm.choosing import PACKAGE
from naisei.textgame.llm.families import Family
from naisei.textgame.llm.feedback import REFUSED, RIGHT_PLACE, RIGHT_STEP, WRONG_PLACE
from naisei.textgame.llm.options import LLMOptions
from naisei.textgame.llm.texts import plain
from naisei.textgame.schemas import View

__all__ = ["messages", "task_text", "walkthrough"]

_NOTHING = "(nothing yet)"


def messages(
    view: View, options: LLMOptions, *, task: str, example: str, memo: str, history: str
) -> tuple[Message, ...]:
    """System and user message. Empty parts leave no heading behind."""
    instructions = prompts.render(
        PACKAGE,
        "system.v1",
        "en",
        task=task,
        example=f"Example walkthrough of another game:\n{example}" if example else "",
        memo=f"Memo from earlier tries at this very game:\n{memo}" if memo else "",
        history=history or _NOTHING,
        inventory=plain(view.inventory) or _NOTHING,
        surroundings=plain(view.description) or view.room,
    )
    asked = prompts.render(
        PACKAGE,
        f"ask-{options.reply}-{'thinking' if options.thinking else 'direct'}.v1",
        "en",
        candidates=_listed(view.candidates),
    )
    return system(re.sub(r"\n{3,}", "\n\n", instructions)), user(asked)


def task_text(options: LLMOptions, family: Family, opening: str) -> str:
    """The user's own words, or the prompt for this kind of game."""
    return options.task_text or prompts.render(
        PACKAGE, f"task-{family}.v1", "en", opening=opening or _NOTHING
    )


def walkthrough(options: LLMOptions, family: Family, *, augmented: bool) -> str:
    """The example, with or without the words of feedback augmentation; empty where none fits.

    A game of an unknown kind has none: an example of something else would mislead.
    """
    if options.example == "none" or family == "general":
        return ""
    text = prompts.render(
        PACKAGE,
        f"example-{family}-{options.example}.v1",
        "en",
        right=RIGHT_PLACE if augmented else "",
        wrong=WRONG_PLACE if augmented else "",
        step=RIGHT_STEP if augmented else "",
        refused=REFUSED if augmented else "",
    )
    return re.sub(r" +$", "", text, flags=re.M)


def _listed(candidates: Sequence[str]) -> str:
    return "\n".join(f"- {c}" for c in candidates)
