"""Where the rooms of a game lie, as a play walked through them: for drawings only.

Rooms get whole-numbered places on a grid, by the directions that were gone; y grows to the
south. The players' own map is `world_map`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.textgame.schemas import GameResult

__all__ = ["Atlas", "Spot"]

_DELTA = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A room at its place."""

    room: str
    x: int
    y: int


@dataclass
class Atlas:
    """Grows with `move`. ways: pairs of spots, by number. path: the spot before the first
    command and after each one."""

    spots: list[Spot] = field(default_factory=list)
    ways: set[tuple[int, int]] = field(default_factory=set)
    path: list[int] = field(default_factory=list)
    _beyond: dict[tuple[int, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, result: GameResult) -> Atlas:
        """Of a whole play."""
        atlas = cls()
        rooms = [step.room for step in result.steps]
        for step, after in zip(result.steps, [*rooms[1:], ""], strict=True):
            if not atlas.path:
                atlas.begin(step.room)
            atlas.move(step.action, after or heading(step.feedback) or step.room, step.feedback)
        return atlas

    def begin(self, room: str) -> None:
        self.path.append(self._new(room, 0, 0))

    def move(self, action: str, room: str, feedback: str) -> None:
        """After a command: `room` is where the player is now."""
        here = self.path[-1]
        if room and (room != self.spots[here].room or heading(feedback)):
            here = self._arrive(here, action.removeprefix("go "), room)
        self.path.append(here)

    def _arrive(self, here: int, direction: str, room: str) -> int:
        if direction not in _DELTA:
            # Not by a direction: to the nearest room of the name, or somewhere new.
            known = [n for n, spot in enumerate(self.spots) if spot.room == room]
            return known[-1] if known else self._new(room, *self._free(here, "east"))
        there = self._beyond.get((here, direction))
        if there is None:
            there = self._at_the_place(here, direction, room)
            self._beyond[here, direction] = there
            self._beyond.setdefault((there, _BACK[direction]), here)
            self.ways.add((min(here, there), max(here, there)))
        return there

    def _at_the_place(self, here: int, direction: str, room: str) -> int:
        dx, dy = _DELTA[direction]
        beside = (self.spots[here].x + dx, self.spots[here].y + dy)
        for number, spot in enumerate(self.spots):
            if (spot.x, spot.y) == beside and spot.room == room:
                return number
        return self._new(room, *self._free(here, direction))

    def _free(self, here: int, direction: str) -> tuple[int, int]:
        """The first free place in a direction."""
        dx, dy = _DELTA[direction]
        taken = {(spot.x, spot.y) for spot in self.spots}
        x, y = self.spots[here].x + dx, self.spots[here].y + dy
        while (x, y) in taken:
            x, y = x + dx, y + dy
        return x, y

    def _new(self, room: str, x: int, y: int) -> int:
        self.spots.append(Spot(room, x, y))
        return len(self.spots) - 1


def heading(feedback: str) -> str:
    """The room that a text announces, `-= Kitchen =-`; empty if none."""
    _, found, rest = feedback.partition("-= ")
    return rest.partition(" =-")[0] if found else ""
