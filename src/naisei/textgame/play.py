"""A person at the terminal plays a game, with a player beside them for advice; or watches it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import Act, Where, World
from naisei.models.settings import ModelSettings
from naisei.models.world import base_world
from naisei.textgame.advice import Adviser
from naisei.textgame.drawing import Atlas
from naisei.textgame.engine import GameHandler, ProcessPool, playable
from naisei.textgame.player import Player
from naisei.textgame.schemas import START, Decision, GameResult, Step, View
from naisei.textgame.stage import Stage

__all__ = ["Sitting", "play"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """How a game is played at the terminal.

    new: makes a fresh player, the adviser. cheap: it calls no model. watch: it plays by itself,
    with `delay` seconds between commands.
    """

    game: str
    path: Path
    max_steps: int
    new: Callable[[], Player]
    cheap: bool = True
    models: dict[str, str] = field(default_factory=dict)
    settings: ModelSettings = field(default_factory=ModelSettings)
    watch: bool = False
    delay: float = 0.0


def play(sitting: Sitting, stage: Stage) -> GameResult:
    """To the game's end, or until the person leaves.

    Raises:
        InputError: a game or a model that cannot be used.
        InstrumentFailure: the interpreter failed again and again.
    """
    pool = ProcessPool()
    try:
        playable(sitting.path, pool)
        return asyncio.run(_with_world(sitting, stage, pool))
    finally:
        pool.close()


async def _with_world(sitting: Sitting, stage: Stage, pool: ProcessPool) -> GameResult:
    handler = GameHandler(sitting.path, pool)
    try:
        async with base_world(sitting.models, settings=sitting.settings) as world:
            return await _Table(sitting, stage, handler, world).play()
    finally:
        handler.close()


class _Table:
    def __init__(self, sitting: Sitting, stage: Stage, handler: GameHandler, world: World) -> None:
        self.sitting, self.stage, self.handler, self.world = sitting, stage, handler, world
        self.atlas = Atlas()
        self.steps: list[Step] = []

    async def play(self) -> GameResult:
        view = await self._do(START)
        self.atlas.begin(view.room)
        adviser = Adviser(self.sitting.new, view.feedback, cheap=self.sitting.cheap)
        left = ""
        while not view.done and len(self.steps) < self.sitting.max_steps:
            await adviser.see(view, self.world)
            self.stage.show(view, self.atlas, len(self.steps), self.sitting.max_steps)
            chosen = await self._chosen(view, adviser)
            if not chosen.action:
                left = chosen.thoughts
                break
            adviser.acted(chosen.action)
            seen = await self._do(chosen.action)
            self.atlas.move(chosen.action, seen.room, seen.feedback)
            self.steps.append(
                Step(
                    room=view.room,
                    action=chosen.action,
                    thoughts=chosen.thoughts,
                    feedback=seen.feedback,
                    score=seen.score,
                )
            )
            view = seen
        self.stage.show(view, self.atlas, len(self.steps), self.sitting.max_steps)
        return self._result(view, left)

    async def _chosen(self, view: View, adviser: Adviser) -> Decision:
        if not self.sitting.watch:
            return await self.stage.ask(view, lambda: adviser.advise(view, self.world))
        decision = await adviser.advise(view, self.world)
        self.stage.tell(decision)
        time.sleep(self.sitting.delay)
        return decision

    async def _do(self, command: str) -> View:
        performed = self.handler.perform(Act(command), Where(self.sitting.game))
        seen = performed if not hasattr(performed, "__await__") else await performed
        return View.of(seen)

    def _result(self, view: View, left: str) -> GameResult:
        return GameResult(
            game=self.sitting.game,
            score=view.score,
            max_score=view.max_score,
            won=view.won,
            lost=view.lost,
            gave_up=left,
            steps=tuple(self.steps),
        )
