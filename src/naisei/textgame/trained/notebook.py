"""What the player and the recorder of walkthroughs both remember of a game, from its texts."""

from __future__ import annotations

from naisei.textgame.planner.kitchen import Kitchen
from naisei.textgame.schemas import View
from naisei.textgame.trained.situation import Situation, cookbook_text

__all__ = ["Notebook"]


class Notebook:
    """The map, where things lie, and the cookbook once it was read (thesis §6.2.1)."""

    def __init__(self) -> None:
        self.kitchen = Kitchen()
        self.cookbook = ""
        #: Where the cookbook was read; -1 until it was.
        self.cookbook_at = -1

    def see(self, view: View, last: str) -> Situation:
        """Take in the answer to the last command (empty at the start)."""
        self.kitchen.see(view, last)
        if text := cookbook_text(view.feedback):
            self.cookbook = text
            self.cookbook_at = self.kitchen.world.here
        fresh, toward = self._unexplored()
        return Situation.of(view, self.cookbook, fresh=fresh, toward=toward)

    def _unexplored(self) -> tuple[tuple[str, ...], str]:
        world = self.kitchen.world
        fresh = tuple(sorted(d for d, beyond in world.place.ways.items() if beyond is None))
        distance = world.distances()
        places = [place for place, _ in world.frontier() if place in distance]
        if fresh or not places:
            return fresh, ""
        route = world.route(min(places, key=lambda place: (distance[place], place)))
        return (), route[0] if route else ""

    def is_door(self, thing: str) -> bool:
        return thing in self.kitchen.world.place.doors.values()

    def where(self, item: str) -> int | None:
        """The place of an item; -1 if it is held, `None` if it was never seen."""
        if item == "cookbook":
            return self.cookbook_at if self.cookbook_at >= 0 else None
        if item in self.kitchen.appliances:
            return self.kitchen.appliances[item]
        return self.kitchen.where(item)
