"""What a player would do, asked by a person who plays: its moves are not always made."""

from __future__ import annotations

from collections.abc import Callable

from naisei.core import World, arun
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import Decision, View

__all__ = ["Adviser"]


class Adviser:
    """Follows a game beside a person.

    new: makes a fresh player. cheap: it is asked at every step, which keeps its memory whole; a
    player that costs money is asked only when the person asks, and then begins afresh.
    """

    def __init__(self, new: Callable[[], Player], opening: str, *, cheap: bool) -> None:
        self._new, self._opening, self._cheap = new, opening, cheap
        self._player: Player | None = None
        self._said: Decision | None = None

    async def see(self, view: View, world: World) -> None:
        """A new step has begun."""
        self._said = None
        if self._cheap and not view.done and view.candidates:
            await self.advise(view, world)

    async def advise(self, view: View, world: World) -> Decision:
        """Its decision for this step; the same when asked again."""
        if self._said is None:
            if self._player is None:
                self._player = self._new()
                # What the game is about is said at its beginning only.
                view = view.model_copy(update={"feedback": self._opening})
            self._said = await arun(self._player.decide(view), world)
        return self._said

    def acted(self, action: str) -> None:
        """The command that was given."""
        if self._said is not None and self._said.action == action:
            return
        follows = self._said is not None and isinstance(self._player, Follows)
        if not (follows and isinstance(self._player, Follows) and self._player.did(action)):
            self._player = None
