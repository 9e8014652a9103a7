"""The home: executes an action and tells whether it was what the user wanted."""

from __future__ import annotations

from naisei.core import Act, Handler, Observation, Where

__all__ = ["Home"]


class Home(Handler):
    """Knows the hidden intent of one instance; reward 1 for it, 0 for all else."""

    def __init__(self, gold: int) -> None:
        self._gold = gold

    def perform(self, effect: Act, where: Where) -> Observation:
        assert isinstance(effect.action, dict)
        action = effect.action["execute"]
        return Observation(reward=float(action == self._gold), done=True)
