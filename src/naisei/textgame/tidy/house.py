"""What the player knows of the house: rooms, receptacles, and what lies or is held where."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from naisei.textgame.reading import read_scene
from naisei.textgame.reading.scene import Scene
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["At", "House"]

#: A receptacle: (place, name).
At = tuple[int, str]
_PUT = re.compile(r"^(?:put|insert) (.+) (?:on|into|onto|in) (.+)$")
_DOOR = re.compile(r"\b(?:door|gate|hatch|doorway|entrance|passageway|portal|gateway)$", re.I)


@dataclass
class House:
    """Kept up to date with every view.

    receptacles: (place, name). lying: thing → (place, receptacle; empty for the floor). held:
    what is carried, in order. done: what was put where it belongs. capacity: how many things can
    be carried, where that was found out.
    """

    world: WorldMap = field(default_factory=WorldMap)
    receptacles: dict[At, None] = field(default_factory=dict)
    lying: dict[str, At] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    capacity: int | None = None
    #: Closed things that would not open: (place, name).
    stuck: set[At] = field(default_factory=set)
    scene: Scene = field(default_factory=lambda: read_scene(View()))
    portable: set[str] = field(default_factory=set)

    @property
    def here(self) -> int:
        return self.world.here

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command (empty at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and ("-= " in view.feedback or view.room != self._room())
        self.world.arrive(self.scene, rest if moved else "")
        self._note_things(view)
        self._note_receptacles()
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((self.here, rest))
        thing = rest.partition(" from ")[0]
        if verb == "take" and thing not in self.held:
            self.capacity = len(self.held)

    def _room(self) -> str:
        return self.world.place.room if self.world.places else ""

    def _note_things(self, view: View) -> None:
        held = [c.removeprefix("drop ") for c in sorted(self.scene.can) if c.startswith("drop ")]
        if not held:
            # Without `drop`, what is carried is what can be put somewhere.
            held = sorted({m[1] for c in self.scene.can if (m := _PUT.match(c))})
        if not held:
            held = [t for t in self.held if t in view.inventory]
        self.held = held
        here = self.here
        self.lying = {
            thing: at for thing, at in self.lying.items() if at[0] != here and thing not in held
        }
        for thing, holder in self.scene.lying.items():
            self.lying[thing] = (here, holder)
        self.portable |= set(held) | set(self.scene.lying)

    def _note_receptacles(self) -> None:
        here, place = self.here, self.world.place
        names = set(self.scene.lying.values()) | self.scene.closed
        if takes := self._takes():
            # Now it is known what can hold something; a window cannot.
            names |= takes
            for at in [a for a in self.receptacles if a[0] == here and a[1] not in names]:
                del self.receptacles[at]
        else:
            names |= self.scene.seen
        doors = set(place.doors.values()) | {name for name in names if _DOOR.search(name)}
        for name in sorted(names - doors - self.portable - {""}):
            self.receptacles.setdefault((here, name))

    def _takes(self) -> set[str]:
        """What something that is held can be put on or into here."""
        return {
            command.removeprefix(start)
            for thing in self.held
            for start in (f"put {thing} on ", f"insert {thing} into ")
            for command in self.scene.can
            if command.startswith(start)
        }

    def put(self, thing: str, receptacle: str) -> str:
        """The command that puts a held thing there, opening it if need be; empty if none does."""
        for command in (f"put {thing} on {receptacle}", f"insert {thing} into {receptacle}"):
            if command in self.scene.can:
                return command
        return f"open {receptacle}" if receptacle in self.scene.closed else ""

    def take(self, thing: str) -> str:
        """The command that takes a thing that lies here."""
        holder = self.lying[thing][1]
        return f"take {thing} from {holder}" if holder else f"take {thing}"

    def hidden(self) -> list[At]:
        """Closed containers that may hold something, and can be opened."""
        return [
            (place.number, name)
            for place in self.world.places
            for name in sorted(place.closed)
            if (place.number, name) not in self.stuck and not _DOOR.search(name)
        ]
