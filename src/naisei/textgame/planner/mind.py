"""The planner's expectations of missing things, and surprises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.lang import say
from naisei.textgame.game_state import HELD, GameState, WorldMap
from naisei.textgame.planner.explore import Prior
from naisei.textgame.schemas import Expectation, Mind

#: Number of things, and of rooms for each.
_THINGS, _ROOMS = 6, 2
#: A thing in a room below this probability is a surprise.
_UNLIKELY = 0.2


class HouseMind:
    """prior: statistics of earlier games."""

    def __init__(self, prior: Prior) -> None:
        self._prior = prior
        #: Of each thing that is looked for: room → chance.
        self._expected: dict[str, dict[str, float]] = {}

    def mind_of(self, known: GameState[Any], missing: Sequence[str], plan: Sequence[str]) -> Mind:
        """missing: things to find. plan: in words."""
        surprise = self._surprise(known)
        entered = {place.room.lower() for place in known.world.places}
        searched = entered - _with_closed(known.world)
        told = [thing for thing in missing if self._prior.knows(thing)][:_THINGS]
        self._expected = {thing: self._prior.rooms_of(thing, searched) for thing in told}
        expects = tuple(
            Expectation(thing=thing, where=room, chance=round(chance, 3))
            for thing, rooms in self._expected.items()
            for room, chance in sorted(rooms.items(), key=lambda each: -each[1])[:_ROOMS]
        )
        return Mind(plan=tuple(plan), expects=expects, surprise=surprise)

    def _surprise(self, known: GameState[Any]) -> str:
        for thing, rooms in self._expected.items():
            at = known.where(thing)
            if at is None or at == HELD or not rooms:
                continue
            room = known.world.places[at].room
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
