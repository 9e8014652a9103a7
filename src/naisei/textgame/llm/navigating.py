"""A player with a navigator: a whole way is one choice, and walked a command at a time.

Source: the text-game thesis, §§6.2.1, 6.5.2.
"""

from __future__ import annotations

from naisei.core import Flow
from naisei.lang import say
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import Decision, View
from naisei.textgame.trained.navigator import item_of, navigate_candidates, next_step
from naisei.textgame.trained.notebook import Notebook

__all__ = ["Navigating"]


class Navigating:
    """Offers `navigate to <item>` to the player within; on the way it is not asked."""

    def __init__(self, player: Player) -> None:
        self._player, self._notebook = player, Notebook()
        self._last = ""
        #: The item that is walked to, and its place (-1: none), and where the last command was
        #: given.
        self._goal, self._place = "", -1
        self._before = -1

    def decide(self, view: View) -> Flow[Decision]:
        self._notebook.see(view, self._last)
        here = self._notebook.kitchen.world.here
        decision = self._on_the_way(view)
        if decision is None:
            more = navigate_candidates(self._notebook)
            shown = view.model_copy(update={"candidates": (*more, *view.candidates)})
            decision = self._first_step((yield from self._player.decide(shown)))
        self._last, self._before = decision.action, here
        return decision

    def did(self, action: str) -> bool:
        """Another command was given than the one decided for."""
        self._last, self._place = action, -1
        return isinstance(self._player, Follows) and self._player.did(action)

    def _on_the_way(self, view: View) -> Decision | None:
        if self._place < 0:
            return None
        step = next_step(self._notebook, self._place)
        stuck = step == self._last and self._notebook.kitchen.world.here == self._before
        if step not in view.candidates or stuck:
            self._place = -1  # arrived, or it does not go on: a new choice
            return None
        return Decision(
            action=step, thoughts=say(f"{self._goal} へ向かう", f"on the way to the {self._goal}")
        )

    def _first_step(self, decision: Decision) -> Decision:
        if not (item := item_of(decision.action)):
            return decision
        place = self._notebook.where(item)
        assert place is not None, "only items whose place is known are offered"
        self._goal, self._place = item, place
        thoughts = f"{decision.action}: {decision.thoughts}".removesuffix(": ")
        return decision.model_copy(
            update={
                "action": next_step(self._notebook, place),
                "thoughts": thoughts,
                "counts": {**decision.counts, "navigations": 1},
            }
        )
