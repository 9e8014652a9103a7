"""A game that remembers what each course of it looked like, so that no course is played twice.

A game answers the same commands with the same texts. Snapshots of one learner mostly play alike,
and the interpreter's time is nearly all the time there is.
"""

from __future__ import annotations

from naisei.core import Act, Handler, Observation, Where
from naisei.textgame.schemas import START

__all__ = ["Course", "Remembering"]

#: What was answered to each sequence of commands of one game.
Course = dict[tuple[str, ...], Observation]


class Remembering(Handler):
    """Answers from `course` while it can; `game` is driven to that point when it cannot."""

    def __init__(self, game: Handler, course: Course) -> None:
        self._game, self._course = game, course
        self._given: tuple[str, ...] = ()

    def perform(self, effect: Act, where: Where) -> Observation:
        command = str(effect.action)
        self._given = (command,) if command == START else (*self._given, command)
        if (known := self._course.get(self._given)) is not None:
            self._game.restore(effect, known, where)
            return known
        seen = self._game.perform(effect, where)
        assert isinstance(seen, Observation), "there is no event loop here"
        self._course[self._given] = seen
        return seen
