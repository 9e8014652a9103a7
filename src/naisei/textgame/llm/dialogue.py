"""The player of chapters 5 and 6: zero-shot, a conversation that grows by a turn a step.

Source: the text-game thesis, §§5.5.3, 6.5.2 (Tables 5.5 and 6.2). A turn tells what was done
and what it earned, where the player is, what it holds, the recipe once it was read, and the
numbered commands; the answer is the command alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei import prompts
from naisei.core import Chat, Flow, Message, assistant, system, user
from naisei.textgame.llm.choosing import PACKAGE, fallback
from naisei.textgame.llm.matching import numbered
from naisei.textgame.llm.options import LLMOptions
from naisei.textgame.llm.player import family_for
from naisei.textgame.llm.prompt import task_text
from naisei.textgame.llm.texts import opening_words, plain
from naisei.textgame.reading import read_foods
from naisei.textgame.schemas import Decision, View
from naisei.textgame.trained.situation import cookbook_text

__all__ = ["DialoguePlayer"]

#: What some models think aloud before they answer.
_ASIDE = re.compile(r"<think>.*?</think>", re.S)


class DialoguePlayer:
    """Asks a model for every command. memo: from earlier tries at the game."""

    def __init__(self, options: LLMOptions, *, memo: str = "") -> None:
        self._options, self._memo = options, memo
        #: What was said at each step, and the command given then.
        self._turns: list[tuple[str, str]] = []
        self._instructions, self._recipe = "", ""
        self._cooking = False

    def decide(self, view: View) -> Flow[Decision]:
        if not self._turns:
            self._begin(view)
        self._recipe = self._recipe or cookbook_text(view.feedback)
        said = self._turn(view)
        asked = (system(self._instructions), *self._earlier(said), user(said))
        reply = yield from self._ask(asked)
        action, counts = numbered(reply, view.candidates), {"repairs": 0, "unmatched": 0}
        if action is None:
            counts["repairs"] = 1
            again = prompts.render(
                PACKAGE, "repair-dialogue.v1", "en", candidates=_listed(view.candidates)
            )
            reply = yield from self._ask((*asked, assistant(reply or "(nothing)"), user(again)))
            action = numbered(reply, view.candidates)
        if action is None:
            counts["unmatched"] = 1
            action = fallback(view.candidates)
        self._turns.append((said, action))
        return Decision(action=action, counts=counts)

    def did(self, action: str) -> bool:
        """Another command than the one decided for was given; the conversation tells of it."""
        if self._turns:
            self._turns[-1] = self._turns[-1][0], action
        return True

    def _begin(self, view: View) -> None:
        opening = opening_words(view.feedback)
        family = family_for(self._options, opening)
        self._cooking = family == "cooking"
        self._instructions = prompts.render(
            PACKAGE,
            "dialogue.v1",
            "en",
            task=task_text(self._options, family, opening),
            memo=f"Memo from earlier tries at this very game:\n{self._memo}" if self._memo else "",
        ).strip()

    def _ask(self, messages: Sequence[Message]) -> Flow[str]:
        reply = yield from Chat("player", messages)
        return _ASIDE.sub("", reply).strip()

    def _turn(self, view: View) -> str:
        held = plain(view.inventory.partition(":")[2]) or "nothing."
        done = ""
        if self._turns:
            done = (
                f"Executed action {len(self._turns)}: {self._turns[-1][1]}\n"
                f"Reward received: {view.score}\n"
            )
        return prompts.render(
            PACKAGE,
            "turn.v1",
            "en",
            done=done,
            room=view.room,
            inventory=f"{held} Total {len(read_foods(view.inventory))} items.",
            recipe=f"Recipe: {self._recipe or 'missing'}\n" if self._cooking else "",
            answer="" if self._cooking else f"Answer of the game: {plain(view.feedback)}\n",
            candidates=_listed(view.candidates),
        )

    def _earlier(self, newest: str) -> list[Message]:
        """The turns before: the newest that fit into the budget. Every turn tells all that holds
        at its time, so that an old one can be spared."""
        kept: list[tuple[str, str]] = []
        left = self._options.history_chars - len(newest)
        for said, action in reversed(self._turns):
            left -= len(said) + len(action)
            if self._options.history_chars and left < 0:
                break
            kept.append((said, action))
        return [m for said, action in reversed(kept) for m in (user(said), assistant(action))]


def _listed(candidates: Sequence[str]) -> str:
    return "\n".join(f"{number} {candidate}" for number, candidate in enumerate(candidates))
