"""A game at the page as a flow: the player decides, and the person lets it or does otherwise."""

from __future__ import annotations

from collections.abc import Callable

from naisei.core import Act, AskUser, Flow, Say
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import START, Decision, GameResult, Step, View
from naisei.web.pages.games.config import PlayConfig

__all__ = ["LEAVE", "PLAYER", "REST", "STEP", "table"]

#: Who says what the player would do.
PLAYER = "player"
#: What a person who watches may answer: one command on, or all that remain. Either may leave.
STEP, REST, LEAVE = "/step", "/rest", "/leave"


def table(config: PlayConfig, new: Callable[[], Player], *, cheap: bool) -> Flow[GameResult]:
    """One game to its end. cheap: the player calls no model, so that it advises at every step;
    one that does is asked only where it plays."""
    view = View.of((yield from Act(START)))
    opening, gave_up = view.feedback, ""
    steps: list[Step] = []
    watching, alone = config.mode == "watch", False
    player: Player | None = None
    while not view.done and len(steps) < config.steps:
        decision = Decision(action="")
        if (watching or cheap) and view.candidates:
            if player is None:
                player = new()
                # What the game is about is said at its beginning only.
                told = view.model_copy(update={"feedback": opening})
            else:
                told = view
            decision = yield from player.decide(told)
            best = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:5]
            yield from Say(
                decision.action, PLAYER, {"thoughts": decision.thoughts, "scores": dict(best)}
            )
        action = decision.action
        if not watching or not alone:
            said = yield from AskUser(action)
            alone = watching and said == REST
            if said == LEAVE:
                gave_up = LEAVE
                break
            action = action if watching else said
        if not action:
            gave_up = decision.thoughts
            break
        if not watching and player is not None and action != decision.action:
            follows = isinstance(player, Follows) and player.did(action)
            player = player if follows else None
        seen = View.of((yield from Act(action)))
        steps.append(
            Step(
                room=view.room,
                action=action,
                thoughts=decision.thoughts if action == decision.action else "",
                feedback=seen.feedback,
                score=seen.score,
            )
        )
        view = seen
    return GameResult(
        game=config.file,
        score=view.score,
        max_score=view.max_score,
        won=view.won,
        lost=view.lost,
        gave_up=gave_up,
        steps=tuple(steps),
        opening=opening,
    )
