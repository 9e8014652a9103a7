"""A player that is shown only some of the candidates."""

from __future__ import annotations

from naisei.core import Flow, InstrumentFailure
from naisei.textgame.filters import Filter
from naisei.textgame.player import Player
from naisei.textgame.schemas import Decision, View

__all__ = ["Shown"]


class Shown:
    """A player behind a filter; it is shown all candidates where the filter leaves none."""

    def __init__(self, player: Player, shown: Filter) -> None:
        self._player, self._filter = player, shown

    def decide(self, view: View) -> Flow[Decision]:
        if not view.candidates:
            # The game's fault, not the player's, and no reason to stop the other games.
            raise InstrumentFailure(
                f"the game offers no command ({view.room or 'at its start'}); make it again"
            )
        kept = self._filter(view.candidates) or view.candidates
        return self._player.decide(view.model_copy(update={"candidates": kept}))
