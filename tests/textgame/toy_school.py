"""The toy kitchen with the points of the real games: one for each thing done right."""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.core import Act, Observation, Where
from textgame.test_planner import kitchen
from textgame.toy_kitchen import ToyKitchen


@dataclass
class SchoolKitchen(ToyKitchen):
    """A point for each ingredient's cut, its cooking, the meal prepared, and the meal eaten."""

    paid: set[tuple[str, int]] = field(default_factory=set)

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        """A command that was answered from memory: the game is driven along."""
        self.perform(effect, where)

    def do(self, command: str) -> str:
        before = {t: self.states.get(t, ("", "")) for t in self.needs}
        had_meal, points = "meal" in self.things, self.score
        text = super().do(command)
        self.score = points
        if self.over == "lost":
            return text
        for thing, want in self.needs.items():
            for part in (0, 1):
                now = self.states.get(thing, ("", ""))[part]
                new = now != before[thing][part]
                if new and now == want[part] and (thing, part) not in self.paid:
                    self.paid.add((thing, part))
                    self.score += 1
        self.score += ("meal" in self.things and not had_meal) + (self.over == "won")
        return text


def school(seed: int) -> SchoolKitchen:
    """The house, recipe and capacity of `kitchen(seed)`, with points."""
    drawn = kitchen(seed)
    return SchoolKitchen(**{name: getattr(drawn, name) for name in ToyKitchen.__dataclass_fields__})
