"""The planner's expectations of missing things, and its surprises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.lang import say
from naisei.textgame.game_state import HELD, GameState, WorldMap
from naisei.textgame.planner.explore import Prior
from naisei.textgame.schemas import Expectation, Mind

#: Most things, and most rooms per thing.
_THINGS, _ROOMS = 6, 2
#: Finding a thing in a room below this probability is a surprise.
_UNLIKELY = 0.2


class HouseMind:
    """Expectations from `prior`, the statistics of earlier games."""

    def __init__(self, prior: Prior) -> None:
        self._prior = prior
        #: Missing thing → room → probability.
        self._expected: dict[str, dict[str, float]] = {}

    def mind_of(self, state: GameState[Any], missing: Sequence[str], plan: Sequence[str]) -> Mind:
        """The beliefs to show. missing: things to find. plan: steps as text."""
        surprise = self._surprise(state)
        entered = {place.room.lower() for place in state.world.places}
        searched = entered - _with_closed(state.world)
        known_things = [thing for thing in missing if self._prior.knows(thing)][:_THINGS]
        self._expected = {thing: self._prior.rooms_of(thing, searched) for thing in known_things}
        expects = tuple(
            Expectation(thing=thing, where=room, chance=round(chance, 3))
            for thing, rooms in self._expected.items()
            for room, chance in sorted(rooms.items(), key=lambda each: -each[1])[:_ROOMS]
        )
        return Mind(plan=tuple(plan), expects=expects, surprise=surprise)

    def _surprise(self, state: GameState[Any]) -> str:
        for thing, rooms in self._expected.items():
            at = state.where(thing)
            if at is None or at == HELD or not rooms:
                continue
            room = state.world.places[at].room
            likely = max(rooms, key=lambda each: rooms[each])
            if rooms.get(room.lower(), 0.0) < _UNLIKELY:
                chance = rooms[likely]
                return say(
                    f"{thing} は {room} にあった ({likely} だと思っていた、{chance:.0%})",
                    f"{thing} was in the {room}; it was expected in the {likely} ({chance:.0%})",
                )
        return ""


def _with_closed(world: WorldMap) -> set[str]:
    """Rooms with closed containers."""
    return {place.room.lower() for place in world.places if place.closed}
