"""What the planner knows of a cooking game: the map, what it holds, what the recipe still needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.textgame.reading import Food, Recipe, Scene, read_foods, read_recipe, read_scene
from naisei.textgame.reading.foods import COOKED, CUT, read_states
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["APPLIANCES", "KNIFE", "Kitchen"]

KNIFE = "knife"
#: Verb of a recipe → the appliances that do it, the first that is found.
APPLIANCES = {"fry": ("stove",), "roast": ("oven",), "grill": ("BBQ", "toaster")}
_STATE = "(?:" + "|".join([*CUT, *COOKED, "raw", "uncut"]) + ")"
_APPLIANCE = re.compile(r"\b(stove|oven|BBQ|toaster)\b", re.I)


@dataclass(frozen=True, slots=True)
class Task:
    """What is still to be done with an ingredient. spoilt: it can never be right again."""

    name: str
    cut: str
    cook: str
    spoilt: bool = False


class Kitchen:
    """Kept up to date with every view."""

    def __init__(self) -> None:
        self.world = WorldMap()
        self.scene: Scene = read_scene(View())
        self.held: dict[str, Food] = {}
        self.recipe: Recipe | None = None
        #: Where the meal can be prepared; -1 until it is known.
        self.cooking_place = -1
        self.appliances: dict[str, int] = {}
        #: How many things can be held; `None` while nothing was seen of a limit.
        self.capacity: int | None = None
        self.unlimited = False
        #: (container, whether something was in it) for every container that was opened.
        self.openings: list[tuple[str, bool]] = []
        #: Closed things that would not open.
        self.stuck: set[tuple[int, str]] = set()
        #: States of things when they were last held.
        self.last_seen: dict[str, Food] = {}
        #: What was held, or could be taken, at some time.
        self._portable: set[str] = set()

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command (empty at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and "-= " in view.feedback
        place = self.world.arrive(self.scene, rest if moved else "")
        self.held = read_foods(view.inventory)
        self._note_states(view)
        for m in _APPLIANCE.finditer(view.description):
            name = "BBQ" if m[1].lower() == "bbq" else m[1].lower()
            self.appliances.setdefault(name, place.number)
        if "prepare meal" in self.scene.can:
            self.cooking_place = place.number
        if (recipe := read_recipe(view.feedback)) is not None:
            self.recipe = recipe
            if self.cooking_place < 0:
                self.cooking_place = place.number
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((place.number, rest))
        elif verb == "open" and rest not in place.doors.values():
            self.openings.append((rest, rest in self.scene.lying.values()))
        self._note_capacity(verb, rest)

    def _note_states(self, view: View) -> None:
        """How things are, from what is held, and from the words before their names in the room."""
        for name in self.world.place.things:
            if m := re.search(rf"\b((?:{_STATE} )+){re.escape(name)}\b", view.description):
                self.last_seen[name] = read_states(f"{m[1]}{name}")
        self.last_seen.update(self.held)

    def _note_capacity(self, verb: str, rest: str) -> None:
        if verb == "take" and rest.partition(" from ")[0] not in self.held:
            self.capacity = len(self.held)  # listed, and yet refused
        elif self.held and not self.scene.lying:
            if (set(self.world.place.things) & self._portable) - set(self.held):
                self.capacity = len(self.held)  # what could be taken cannot be taken now
        elif self.recipe is not None and len(self.held) >= max(len(self.recipe.needs), 2):
            self.unlimited = True
        self._portable |= set(self.held) | set(self.scene.lying)

    @property
    def hands(self) -> int:
        """How many things are taken to fit: known, or a limit as low as it can be, since games
        with one allow as many things as the recipe has ingredients (and two at least where
        something must be cut)."""
        if self.capacity is not None:
            return self.capacity
        if self.unlimited or self.recipe is None:
            return 99
        return max(len(self.recipe.needs), 2)

    def tasks(self) -> list[Task]:
        """What the recipe still asks for, by ingredient. A state is known once it is held."""
        if self.recipe is None:
            return []
        out = []
        for need in self.recipe.needs:
            food = self.held.get(need.name, self.last_seen.get(need.name, Food(need.name)))
            spoilt = (
                food.burned
                or (bool(food.cut) and food.cut != need.cut)
                or (bool(food.cooked) and food.cooked != need.cook)
            )
            out.append(
                Task(
                    need.name,
                    "" if food.cut == need.cut else need.cut,
                    "" if food.cooked == need.cook else need.cook,
                    spoilt,
                )
            )
        return out

    def where(self, thing: str) -> int | None:
        """The nearest place where a thing is known to lie; -1 if it is held."""
        if thing in self.held:
            return -1
        places = [p.number for p in self.world.places if thing in p.things]
        if not places:
            return None
        distance = self.world.distances()
        return min(places, key=lambda p: (distance.get(p, 10**6), p))
