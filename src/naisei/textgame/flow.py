"""Plays a game: observe, decide, act, until it ends or the steps run out.

Source: the text-game thesis, §3.1 (20 steps) and §5.3.2 (100 steps).
"""

from __future__ import annotations

from collections.abc import Callable

from naisei.core import Act, Flow, Remember
from naisei.memory import Memory
from naisei.textgame.player import Player
from naisei.textgame.schemas import START, GameResult, Step, View


def play_tries(
    game: str,
    player: Callable[[int, str], Player],
    memory: Memory,
    reflect: Callable[[GameResult, Memory], Flow[str]],
    *,
    tries: int,
    max_steps: int,
) -> Flow[GameResult]:
    """Play a game up to `tries` times until it is won, updating the memory in between.

    player: (number of the try from 0, memo) → new player.
    """
    earlier: tuple[GameResult, ...] = ()
    while True:
        memo = memory.recall()
        result = yield from play_game(game, player(len(earlier), memo), max_steps=max_steps)
        result = result.model_copy(update={"memo": memo})
        if result.won or len(earlier) + 1 == tries:
            return result.model_copy(update={"earlier": earlier})
        earlier += (result,)
        if memory.reflects:
            note = yield from reflect(result, memory)
            yield from Remember(note)


def play_game(game: str, player: Player, *, max_steps: int) -> Flow[GameResult]:
    """Play one game from its start; every command to the engine costs a step."""
    view = View.of((yield from Act(START)))
    opening = view.feedback
    steps: list[Step] = []
    gave_up, mind = "", None
    while not view.done and len(steps) < max_steps:
        left = max_steps - len(steps)
        decision = yield from player.decide(view.model_copy(update={"steps_left": left}))
        if not decision.action:
            gave_up = decision.thoughts
            break
        seen = View.of((yield from Act(decision.action)))
        steps.append(
            Step(
                room=view.room,
                action=decision.action,
                thoughts=decision.thoughts,
                feedback=seen.feedback,
                score=seen.score,
                counts=decision.counts,
                mind=decision.mind if decision.mind != mind else None,
            )
        )
        view, mind = seen, decision.mind
    return GameResult(
        game=game,
        score=view.score,
        max_score=view.max_score,
        won=view.won,
        lost=view.lost,
        gave_up=gave_up,
        steps=tuple(steps),
        opening=opening,
    )
