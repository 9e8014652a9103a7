"""Performs the commands of a game; a crashed interpreter is driven to the point again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from naisei.core import (
    Act,
    Handler,
    InstrumentFailure,
    Observation,
    ReplayDivergence,
    Where,
)
from naisei.lang import speaking
from naisei.textgame.engine.files import playable
from naisei.textgame.engine.pool import ProcessPool
from naisei.textgame.engine.process import GameProcess
from naisei.textgame.engine.story import BrokenGame
from naisei.textgame.schemas import START, View

__all__ = ["GameHandler"]

#: How often a game is begun again after its interpreter crashed or hung.
_RETRIES = 2


class GameHandler(Handler):
    """One game of a pool of interpreters: borrowed at the first command, given back at the end.

    A game cannot be saved. On replay its commands are kept, and given to the interpreter when
    the first new one comes; the last answer must be the one of the log.
    """

    def __init__(self, path: Path, pool: ProcessPool) -> None:
        """path: of the game, in any form that `playable` takes."""
        self.path = path
        self._story: Path | None = None
        self._pool = pool
        self._process: GameProcess | None = None
        self._given: list[str] = []
        self._last: Observation | None = None
        self._score = 0

    def perform(self, effect: Act, where: Where) -> Awaitable[Observation] | Observation:
        """Raises `InstrumentFailure` when the interpreter failed more than twice, or the game's
        file is broken: in a set of many, the others are played all the same."""
        command = str(effect.action)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._perform(command, where)
        return asyncio.to_thread(self._perform, command, where)

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        self._forget_if_anew(str(effect.action))
        self._given.append(str(effect.action))
        self._last = result
        self._score = View.of(result).score

    def close(self) -> None:
        """Give the interpreter back. Called when the game is over, whatever came of it."""
        if self._process is not None:
            self._pool.give_back(self._process)
            self._process = None

    def _forget_if_anew(self, command: str) -> None:
        """Another play of the same game owes nothing to the one before it."""
        if command == START:
            self._given, self._last, self._score = [], None, 0

    def _perform(self, command: str, where: Where) -> Observation:
        self._forget_if_anew(command)
        try:
            with speaking("en"):  # it becomes a part of the run's record
                self._load()
        except BrokenGame as error:
            raise InstrumentFailure(str(error)) from error
        for attempt in range(_RETRIES + 1):
            try:
                view = self._step(command, where)
                break
            except InstrumentFailure:
                self.close()
                if attempt == _RETRIES:
                    raise
        self._given.append(command)
        self._last = view.observation(float(view.score - self._score))
        self._score = view.score
        if view.done:
            self.close()
        return self._last

    def _step(self, command: str, where: Where) -> View:
        if self._process is None:
            self._process = self._pool.borrow()
            self._drive(self._process, where)
        if command == START:
            return self._process.open(self._load())
        return self._process.step(command)

    def _load(self) -> Path:
        if self._story is None:
            self._story = playable(self.path, self._pool)
        return self._story

    def _drive(self, process: GameProcess, where: Where) -> None:
        """To where the log, or the crashed interpreter, had come."""
        view = None
        for command in self._given:
            view = process.open(self._load()) if command == START else process.step(command)
        if view is not None and self._last is not None:
            known = View.of(self._last)
            if view != known:
                raise ReplayDivergence(str(where), known.feedback, view.feedback)
