"""A learner's way through its train games, with what it knew after so many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from naisei.core import Act, EffectFailed, Handler, InputError, Observation, Where, World, run
from naisei.lang import say
from naisei.textgame.flow import play_game
from naisei.textgame.games import Game
from naisei.textgame.learning.knowledge import Knowledge
from naisei.textgame.learning.player import SelfTaught
from naisei.textgame.schemas import GameResult, View

__all__ = ["lessons", "order", "play_frozen"]


def order(games: Sequence[Game], seed: int) -> list[Game]:
    """The games in the order in which this seed learns from them."""
    shuffled = sorted(games, key=lambda game: game.id)
    Random(f"order/{seed}").shuffle(shuffled)
    return shuffled


def lessons(
    games: Sequence[Game],
    handler: Callable[[Game], Handler],
    *,
    known: Knowledge,
    max_steps: int = 100,
) -> Iterator[tuple[Knowledge, GameResult]]:
    """Play the games in the order given; after each, what is known and how it went.

    known: what to begin with; its `games` are those that were played before, and left out. It
    grows, and is yielded each time: copy it to keep it. No other source than the texts,
    the points and the ends of these games is used.

    Raises:
        InputError: a game that the interpreter cannot play.
    """
    for game in games[known.games :]:
        draw = f"{known.seed}/{known.games}/{game.id}"
        player = SelfTaught(known, draw=draw, caution=known.caution)
        watched = _Watched(handler(game))
        played = play_game(game.id, player, max_steps=max_steps)
        try:
            result = run(played, World({Act: watched}))
        except EffectFailed as error:
            raise InputError(
                say(f"このゲームは遊べません: {error}", f"the game cannot be played: {error}"),
                place=str(game.path),
                remedy=say(
                    "作り直すか、除いてください。--resume で、書き込んだところから続けられます",
                    "generate it again, or leave it out; --resume goes on from what was written",
                ),
            ) from error
        player.end(watched.last)
        yield known, result


def play_frozen(
    game: Game, handler: Handler, known: Knowledge, *, max_steps: int = 100
) -> GameResult:
    """A game with what is known, which stays as it is."""
    player = SelfTaught(known.model_copy(deep=True), caution=known.caution)
    return run(play_game(game.id, player, max_steps=max_steps), World({Act: handler}))


class _Watched(Handler):
    """Keeps the last answer: the one that ends a game is shown to no player."""

    def __init__(self, game: Handler) -> None:
        self._game = game
        self.last = View()

    def perform(self, effect: Act, where: Where) -> Observation:
        seen = self._game.perform(effect, where)
        assert isinstance(seen, Observation), "there is no event loop here"
        self.last = View.of(seen)
        return seen
