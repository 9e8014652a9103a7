"""A cooking game in Python: the same texts and candidates as the real ones, any shape.

It shares no code with the players. A wrong cut or cooking, a second one, and eating an
ingredient end it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.core import Act, Handler, Observation, Where
from naisei.textgame.schemas import START, View

BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
STEP = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
DONE = {"slice": "sliced", "dice": "diced", "chop": "chopped"}
COOKED = {"stove": "fried", "oven": "roasted", "BBQ": "grilled"}
VERB = {"fried": "fry", "roasted": "roast", "grilled": "grill"}


@dataclass
class ToyKitchen(Handler):
    """rooms: position → name. doors: (position, direction) → name of a closed door (both sides
    are given). things: name → position or `held`. inside: thing → container in its room.
    appliances: name → position. needs: ingredient → (cut, cooked) as participles or empty.
    states: thing → (cut, cooked) at the start. hands: how many things can be held."""

    rooms: dict[tuple[int, int], str]
    doors: dict[tuple[tuple[int, int], str], str]
    things: dict[str, tuple[int, int] | str]
    inside: dict[str, str]
    containers: dict[str, tuple[int, int]]
    appliances: dict[str, tuple[int, int]]
    needs: dict[str, tuple[str, str]]
    states: dict[str, tuple[str, str]]
    hands: int
    here: tuple[int, int]
    kitchen: tuple[int, int]
    over: str = ""
    score: int = 0
    opened: set[str] = field(default_factory=set)

    def perform(self, effect: Act, where: Where) -> Observation:
        command = str(effect.action)
        before = self.score
        text = self.room_text() if command == START else self.do(command)
        view = View(
            room=self.rooms[self.here],
            description=self.room_text(),
            inventory=self.inventory(),
            candidates=tuple(self.candidates()),
            feedback=text,
            score=self.score,
            max_score=1,
            done=bool(self.over),
            won=self.over == "won",
            lost=self.over == "lost",
        )
        return view.observation(float(self.score - before))

    def phrase(self, thing: str) -> str:
        cut, cooked = self.states.get(thing, ("", ""))
        return " ".join(["a", *filter(None, (cut, cooked)), thing])

    def inventory(self) -> str:
        held = [self.phrase(t) for t, at in self.things.items() if at == "held"]
        listed = ", ".join(held[:-1]) + (" and " if held[:-1] else "") + held[-1] if held else ""
        return f"You are carrying: {listed}." if held else "You are carrying nothing."

    def ways(self) -> dict[str, tuple[int, int]]:
        x, y = self.here
        beyond = {d: (x + dx, y + dy) for d, (dx, dy) in STEP.items()}
        return {d: at for d, at in beyond.items() if at in self.rooms}

    def shut(self, direction: str) -> str:
        door = self.doors.get((self.here, direction), "")
        return "" if door in self.opened else door

    def visible(self) -> list[str]:
        return [
            t
            for t, at in self.things.items()
            if at == self.here and (t not in self.inside or self.inside[t] in self.opened)
        ]

    def room_text(self) -> str:
        rows = [f"-= {self.rooms[self.here]} =-", "You are in a room."]
        rows += [f"You see a {name}." for name, at in self.appliances.items() if at == self.here]
        rows += [f"Here is {self.phrase(t)}." for t in self.visible()]
        for d in self.ways():
            door = self.doors.get((self.here, d), "")
            state = "closed" if self.shut(d) else "open"
            rows.append(
                f"There is {'a' if state == 'closed' else 'an'} {state} {door} leading {d}."
                if door
                else f"There is an exit to the {d}."
            )
        return "\n".join(rows)

    def held(self) -> list[str]:
        return [t for t, at in self.things.items() if at == "held"]

    def candidates(self) -> list[str]:
        held, out = self.held(), ["look", "inventory"]
        out += [f"open {self.shut(d)}" if self.shut(d) else f"go {d}" for d in self.ways()]
        for name, at in self.containers.items():
            if at == self.here:
                out += [f"examine {name}", *([] if name in self.opened else [f"open {name}"])]
        for thing in self.visible():
            out.append(f"examine {thing}")
            if len(held) < self.hands and thing != "meal":
                place = self.inside.get(thing, "")
                out.append(f"take {thing} from {place}" if place else f"take {thing}")
        for thing in held:
            out.append(f"drop {thing}")
            if thing == "meal":
                out.append("eat meal")
            elif thing != "knife":
                out.append(f"eat {thing}")
                near = [name for name, at in self.appliances.items() if at == self.here]
                out += [f"cook {thing} with {name}" for name in near]
                if "knife" in held and not self.states.get(thing, ("", ""))[0]:
                    out += [f"{verb} {thing} with knife" for verb in DONE]
        if self.here == self.kitchen and "meal" not in self.things:
            out += ["examine cookbook", "prepare meal"]
        return sorted(out)

    def do(self, command: str) -> str:
        assert command in self.candidates(), f"{command} is no candidate"
        verb, _, rest = command.partition(" ")
        if verb == "go":
            self.here = self.ways()[rest]
            return self.room_text()
        if verb == "open":
            self.opened.add(rest)
            return f"You open {rest}."
        if verb == "take":
            thing = rest.partition(" from ")[0]
            self.things[thing] = "held"
            self.inside.pop(thing, None)
            return f"You take the {thing}."
        if verb == "drop":
            self.things[rest] = self.here
            return f"You drop the {rest} on the ground."
        if verb == "cook":
            return self.cook(*rest.split(" with "))
        if verb in DONE:
            return self.cut(rest.partition(" with ")[0], DONE[verb])
        if command == "examine cookbook":
            return self.recipe()
        if command == "prepare meal":
            if any(
                self.things.get(t) != "held" or self.states.get(t, ("", "")) != n
                for t, n in self.needs.items()
            ):
                return "You still lack something."
            for thing in self.needs:
                del self.things[thing]
            self.things["meal"] = "held"
            return "Adding the meal to your inventory."
        if command == "eat meal":
            self.over, self.score = "won", 1
            return "You eat the meal. Not bad."
        if verb == "eat":
            self.over = "lost"
        return "Nothing special."

    def cook(self, thing: str, appliance: str) -> str:
        cut, cooked = self.states.get(thing, ("", ""))
        self.states[thing] = (cut, "burned" if cooked else COOKED[appliance])
        if thing in self.needs and self.states[thing][1] != self.needs[thing][1]:
            self.over = "lost"
        return f"You cooked the {thing}."

    def cut(self, thing: str, state: str) -> str:
        self.states[thing] = (state, self.states.get(thing, ("", ""))[1])
        if thing in self.needs and state != self.needs[thing][0]:
            self.over = "lost"
        return f"You cut the {thing}."

    def recipe(self) -> str:
        verbs = {state: verb for verb, state in DONE.items()}
        rows = []
        for thing, (cut, cooked) in self.needs.items():
            rows += [f"{verbs[cut]} the {thing}"] if cut else []
            rows += [f"{VERB[cooked]} the {thing}"] if cooked else []
        listed = "\n  ".join(self.needs)
        return (
            f"You open the cookbook.\n\nIngredients:\n  {listed}\n\nDirections:\n  "
            + "\n  ".join([*rows, "prepare meal"])
        )
