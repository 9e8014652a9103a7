"""A house to tidy up in Python: two rooms, the same texts and candidates as real games have."""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.core import Act, Handler, Observation, Where
from naisei.textgame.schemas import START, View

OPENING = "Things lie about in this house. Put them away where they belong, and tidy up!"
PLACES = {"Hall": ("bench", "hook"), "Kitchen": ("shelf", "bin")}
WAY = {"Hall": "east", "Kitchen": "west"}
HOMES = {"mug": "shelf", "coat": "hook"}


@dataclass
class ToyHouse(Handler):
    """The mug and the coat lie on the bench; the mug belongs on the shelf, the coat on the hook.

    begun: how often it was begun.
    """

    begun: int = 0
    room: str = "Hall"
    lying: dict[str, str] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)

    def perform(self, effect: Act, where: Where) -> Observation:
        command, before = str(effect.action), len(self.right)
        if command == START:
            self.begun += 1
            before = 0
            self.room, self.right = "Hall", set()
            self.lying = {"mug": "bench", "coat": "bench"}
            text = f"{OPENING}\n\n{self.described()}"
        else:
            assert command in self.candidates(), command
            text = self.do(command.split())
        view = View(
            room=self.room,
            description=self.described(),
            inventory="You are carrying: " + (", ".join(self.held()) or "nothing") + ".",
            candidates=self.candidates(),
            feedback=text,
            score=len(self.right),
            max_score=len(HOMES),
            done=self.right == set(HOMES),
            won=self.right == set(HOMES),
        )
        return view.observation(float(len(self.right) - before))

    def do(self, words: list[str]) -> str:
        if words[0] == "go":
            self.room = "Kitchen" if self.room == "Hall" else "Hall"
            return self.described()
        if words[0] == "look":
            return self.described()
        if words[0] == "take":
            self.lying[words[1]] = ""
            return f"You take the {words[1]} from the {words[3]}."
        self.lying[words[1]] = words[3]
        said = f"You put the {words[1]} on the {words[3]}."
        if HOMES[words[1]] == words[3] and words[1] not in self.right:
            self.right.add(words[1])
            said += "\n\nYour score has just gone up by one point."
        return said

    def held(self) -> list[str]:
        return [thing for thing, place in self.lying.items() if not place]

    def described(self) -> str:
        there = [f"a {t} on the {p}" for t, p in self.lying.items() if p in PLACES[self.room]]
        return f"-= {self.room} =-\nThere is {', '.join(there) or 'nothing'}."

    def candidates(self) -> tuple[str, ...]:
        places = PLACES[self.room]
        takes = [f"take {t} from {p}" for t, p in self.lying.items() if p in places]
        puts = [f"put {t} on {p}" for t in self.held() for p in places]
        return (f"go {WAY[self.room]}", "look", *puts, *takes)
