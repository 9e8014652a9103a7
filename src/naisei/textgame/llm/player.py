"""The player of chapter 3: sees the whole of its game so far in every prompt.

Source: the text-game thesis, §3.2.
"""

from __future__ import annotations

from naisei import prompts
from naisei.core import Chat, Flow, user
from naisei.textgame.llm.choosing import PACKAGE, choose
from naisei.textgame.llm.families import Family, family_of
from naisei.textgame.llm.feedback import Feedback, Kind
from naisei.textgame.llm.history import Entry, History, lines
from naisei.textgame.llm.options import LLMOptions
from naisei.textgame.llm.prompt import messages, task_text, walkthrough
from naisei.textgame.llm.summary import summarised
from naisei.textgame.llm.texts import opening_words, plain
from naisei.textgame.schemas import Decision, View

__all__ = ["LLMPlayer", "family_for", "feedback_kind"]


class LLMPlayer:
    """Asks a model for every command. memo: from earlier tries at the game."""

    def __init__(self, options: LLMOptions, *, memo: str = "") -> None:
        self._options, self._memo = options, memo
        self._history = History(options.history_chars)
        self._number = 0
        self._last: tuple[View, str] | None = None

    def decide(self, view: View) -> Flow[Decision]:
        if self._last is None:
            self._begin(view)
        else:
            self._note(*self._last, view)
        yield from self._fold()
        given = messages(
            view,
            self._options,
            task=self._task,
            example=self._example,
            memo=self._memo,
            history=self._history.text,
        )
        decision = yield from choose(given, view.candidates, self._options)
        self._last = view, decision.action
        return decision

    def did(self, action: str) -> bool:
        """Another command than the one decided for was given; the history tells of it."""
        if self._last is not None:
            self._last = self._last[0], action
        return True

    def _begin(self, view: View) -> None:
        opening = opening_words(view.feedback)
        family = family_for(self._options, opening)
        kind = feedback_kind(self._options, family)
        self._feedback = Feedback(kind)
        self._task = task_text(self._options, family, opening)
        self._example = walkthrough(self._options, family, augmented=kind != "none")

    def _note(self, before: View, action: str, now: View) -> None:
        answer, gained = plain(now.feedback), now.score - before.score
        word = self._feedback.word(action, answer, gained)
        self._history.add(Entry(self._number, before.room, now.room, action, answer, word, gained))
        self._number += 1

    def _fold(self) -> Flow[None]:
        due = self._history.due()
        if not due:
            return
        if self._options.folding == "rule":
            summary = summarised([*self._history.folded, *due])
        else:
            asked = prompts.render(
                PACKAGE,
                "fold.v1",
                "en",
                task=self._task,
                summary=self._history.summary or "(none yet)",
                actions=lines(due),
            )
            summary = yield from Chat("player", [user(asked)])
        self._history.fold(due, summary)


def family_for(options: LLMOptions, opening: str) -> Family:
    """The kind of game: as it is set, or by its opening words."""
    return family_of(opening) if options.task == "auto" else options.task


def feedback_kind(options: LLMOptions, family: Family) -> Kind:
    """What feedback augmentation speaks of: by the kind of game unless it is set."""
    if options.feedback != "auto":
        return options.feedback
    return "none" if family == "general" else family
