"""A house to be tidied, in a few lines: the views that a game of tidying up would give."""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.core import Act, Handler, Observation, Where
from naisei.textgame.schemas import START, View

INTRO = "You find yourself in a messy house. Let's clean up this place.\n\n"
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


@dataclass
class ToyHouse(Handler):
    """rooms: room → its receptacles, `into:` before those that things are put into. ways: (room,
    direction, room), both ways. lying: thing → receptacle, a room for its floor, or `held`.
    right: thing → where it belongs. shut: closed receptacles. doors: name → (room, direction) of
    a closed door."""

    rooms: dict[str, list[str]]
    lying: dict[str, str]
    right: dict[str, set[str]]
    ways: list[tuple[str, str, str]] = field(default_factory=list)
    shut: set[str] = field(default_factory=set)
    doors: dict[str, tuple[str, str]] = field(default_factory=dict)
    here: str = ""
    score: int = 0
    given: list[str] = field(default_factory=list)
    most: int | None = None

    def __post_init__(self) -> None:
        self.into = {r[5:] for rs in self.rooms.values() for r in rs if r.startswith("into:")}
        self.rooms = {k: [r.removeprefix("into:") for r in v] for k, v in self.rooms.items()}
        self.here = self.here or next(iter(self.rooms))
        self.exits: dict[str, dict[str, str]] = {room: {} for room in self.rooms}
        for a, direction, b in self.ways:
            self.exits[a][direction] = b
            self.exits[b][OPPOSITE[direction]] = a
        self.points: set[str] = set()

    def perform(self, effect: Act, where: Where) -> Observation:
        before = self.score
        view = self.step(str(effect.action))
        return view.observation(float(self.score - before))

    def _doors_here(self) -> dict[str, str]:
        out = {}
        for name, (room, direction) in self.doors.items():
            beyond = self.exits[room][direction]
            if room == self.here:
                out[direction] = name
            elif beyond == self.here:
                out[OPPOSITE[direction]] = name
        return out

    def candidates(self) -> list[str]:
        out = ["look", "inventory"]
        held = [t for t, at in self.lying.items() if at == "held"]
        doors = self._doors_here()
        for direction in self.exits[self.here]:
            door = doors.get(direction)
            out.append(f"open {door}" if door in self.shut else f"go {direction}")
        for r in self.rooms[self.here]:
            out.append(f"examine {r}")
            if r in self.shut:
                out.append(f"open {r}")
                continue
            verb, word = ("insert", "into") if r in self.into else ("put", "on")
            out += [f"{verb} {t} {word} {r}" for t in held]
            for t, at in self.lying.items():
                if at == r:
                    out += [f"examine {t}", f"take {t} from {r}"]
        for t, at in self.lying.items():
            if at == self.here:
                out += [f"examine {t}", f"take {t}"]
        return sorted(out + [f"drop {t}" for t in held])

    def step(self, command: str) -> View:
        text = "Nothing happens."
        if command == START:
            text = INTRO + self._description()
        else:
            self.given.append(command)
            assert command in self.candidates(), command
            verb, _, rest = command.partition(" ")
            held = [t for t, at in self.lying.items() if at == "held"]
            if verb == "go":
                self.here = self.exits[self.here][rest]
                text = self._description()
            elif verb == "open":
                self.shut.discard(rest)
            elif verb == "take" and (self.most is None or len(held) < self.most):
                self.lying[rest.partition(" from ")[0]] = "held"
            elif verb == "drop":
                self.lying[rest] = self.here
            elif verb in ("put", "insert"):
                thing = next(t for t in held if rest.startswith(f"{t} "))
                place = rest.removeprefix(thing).split(" ", 2)[2]
                self.lying[thing] = place
                if place in self.right.get(thing, ()) and thing not in self.points:
                    self.points.add(thing)
                    self.score += 1
                    text = "Your score has just gone up by one point."
        done = len(self.points) == len(self.right)
        held = [t for t, at in self.lying.items() if at == "held"]
        return View(
            room=self.here,
            description=self._description(),
            inventory=f"You are carrying: {', '.join(held)}." if held else "You carry nothing.",
            candidates=tuple(self.candidates()),
            feedback=text,
            score=self.score,
            max_score=len(self.right),
            done=done,
            won=done,
        )

    def _description(self) -> str:
        doors = "".join(
            f" There is {'a closed' if name in self.shut else 'an open'} {name} leading {way}."
            for way, name in self._doors_here().items()
        )
        return f"-= {self.here} =-\nYou see {', '.join(self.rooms[self.here])}.{doors}"
