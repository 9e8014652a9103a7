"""State of a cooking game, its text for a scorer, and the navigator's commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from naisei.lang import say
from naisei.textgame.game_state import HELD, GameState
from naisei.textgame.player import FILTERS
from naisei.textgame.schemas import Decision, View
from naisei.textgame.texts import COOKED, CUT, Food, Recipe, read_foods, read_recipe, read_states

KNIFE = "knife"
#: Verb of a recipe → suitable appliances, best first.
APPLIANCES = {"fry": ("stove",), "roast": ("oven",), "grill": ("BBQ", "toaster")}
_STATE = "(?:" + "|".join([*CUT, *COOKED, "raw", "uncut"]) + ")"
_APPLIANCE = re.compile(r"\b(stove|oven|BBQ|toaster)\b", re.I)


@dataclass(frozen=True, slots=True)
class Task:
    """A remaining task for an ingredient. spoilt: it can no longer match the recipe."""

    name: str
    cut: str
    cook: str
    spoilt: bool = False


class CookingState(GameState[Food]):
    """State of a game with a cookbook."""

    def __init__(self) -> None:
        super().__init__()
        self.recipe: Recipe | None = None
        #: The recipe's text and the place where it was read; "" and -1 before.
        self.cookbook, self.cookbook_at = "", -1
        #: Where the meal can be prepared; -1 if unknown.
        self.cooking_place = -1
        self.appliances: dict[str, int] = {}
        #: Whether the player ever held more things than any carrying limit allows.
        self.unlimited = False
        #: Last known states of things.
        self.last_seen: dict[str, Food] = {}

    def read_held(self, view: View) -> dict[str, Food]:
        return read_foods(view.inventory)

    def see(self, view: View, last: str) -> None:
        super().see(view, last)
        self._note_states(view)
        for m in _APPLIANCE.finditer(view.description):
            name = "BBQ" if m[1].lower() == "bbq" else m[1].lower()
            self.appliances.setdefault(name, self.here)
        if "prepare meal" in self.scene.can:
            self.cooking_place = self.here
        if (recipe := read_recipe(view.feedback)) is not None:
            self.recipe = recipe
            if self.cooking_place < 0:
                self.cooking_place = self.here
        if text := cookbook_text(view.feedback):
            self.cookbook, self.cookbook_at = text, self.here
        if self.recipe is not None and self.scene.lying:
            self.unlimited |= len(self.held) >= max(len(self.recipe.needs), 2)

    def _note_states(self, view: View) -> None:
        """Read states of things from the inventory and the room's text."""
        for name in self.world.place.things:
            if m := re.search(rf"\b((?:{_STATE} )+){re.escape(name)}\b", view.description):
                self.last_seen[name] = read_states(f"{m[1]}{name}")
        self.last_seen.update(self.held)

    @property
    def hands(self) -> int:
        """The assumed carrying limit: the known one, or the lowest possible, the number of
        ingredients in the recipe (at least two)."""
        if self.capacity is not None:
            return self.capacity
        if self.unlimited or self.recipe is None:
            return 99
        return max(len(self.recipe.needs), 2)

    def tasks(self) -> list[Task]:
        """The recipe's remaining tasks per ingredient, from the last known states."""
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

    def cooks_again(self, command: str) -> bool:
        """Whether the command cooks held food that is already cooked, which spoils it. Foods may be
        cooked when a game begins."""
        verb, _, rest = command.partition(" ")
        food = self.held.get(rest.rpartition(" with ")[0])
        return verb == "cook" and food is not None and bool(food.cooked)

    def where(self, thing: str) -> int | None:
        """Like `GameState.where`, and also for the cookbook and appliances seen in texts."""
        if thing == "cookbook":
            return self.cookbook_at if self.cookbook_at >= 0 else None
        return self.appliances[thing] if thing in self.appliances else super().where(thing)

    def text(self, view: View) -> TextState:
        """The current state as a scorer's input."""
        world = self.world
        fresh = tuple(sorted(d for d, beyond in world.place.ways.items() if beyond is None))
        distance = world.distances()
        places = [place for place, _ in world.frontier() if place in distance]
        route = None
        if places and not fresh:
            route = world.route(min(places, key=lambda place: (distance[place], place)))
        return TextState.of(view, self.cookbook, fresh=fresh, toward=route[0] if route else "")


# The scorer's input text: `<inventory count> <inventory> <cookbook> <environment>`.
#
# Source: the text-game thesis, §§5.2.1, 6.2.3. The action is the second part of the pair.

_SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"^\s*-= .+? =-\s*")
T = TypeVar("T")


class TextState(BaseModel):
    """The texts of a state. cookbook: empty until read.

    fresh: unexplored directions from here. toward: direction of the nearest unexplored exit if
    there is none here, else "". Both come from the map and are not in the thesis's scorer.
    """

    model_config = ConfigDict(frozen=True)

    inventory: str = ""
    cookbook: str = ""
    room: str = ""
    description: str = ""
    fresh: tuple[str, ...] = ()
    toward: str = ""

    @classmethod
    def of(
        cls, view: View, cookbook: str, *, fresh: tuple[str, ...] = (), toward: str = ""
    ) -> TextState:
        return cls(
            fresh=fresh,
            toward=toward,
            inventory=view.inventory,
            cookbook=cookbook,
            room=view.room,
            description=_HEADING.sub("", view.description),
        )

    @property
    def inventory_summary(self) -> str:
        """The number of held things, then the inventory text."""
        return _flat(f"{len(read_foods(self.inventory))} {self.inventory}")

    @property
    def possessions(self) -> str:
        """Inventory and cookbook; `fit` shortens the environment before this."""
        return _flat(f"{self.inventory_summary} {self.cookbook}")

    @property
    def environment(self) -> str:
        """Name and description of the room."""
        return _flat(f"{self.room}. {self.description}")

    @property
    def text(self) -> str:
        """Possessions and environment: the encoder's first segment."""
        return f"{self.possessions} {self.environment}"


def cookbook_text(answer: str) -> str:
    """The recipe lines in an answer to `examine cookbook`; "" without a recipe."""
    _, found, rest = answer.partition("Ingredients:")
    if not found:
        return ""
    body, meal, _ = rest.partition("prepare meal")
    lines = f"{found}{body}{meal}".splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


def fit(
    possessions: Sequence[T], environment: Sequence[T], action: Sequence[T], *, limit: int
) -> tuple[list[T], list[T]]:
    """Truncate the first segment and the action to `limit` tokens together.

    Cuts the end of the environment first (§5.2.1), then the end of the possessions; the action only
    if it alone exceeds the limit.
    """
    second = list(action[:limit])
    room = limit - len(second)
    first = list(possessions[:room])
    return first + list(environment[: room - len(first)]), second


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


# `navigate to <item>`: one candidate for a whole path, found by breadth-first search.
#
# Source: the text-game thesis, §6.2.1. Once the cookbook was read, the candidates are the recipe's
# ingredients, the knife, the cookbook and the appliances, unless they are here or held. Other foods
# and furniture are not offered.

NAVIGATE = "navigate to "


class Navigator:
    """Offers `navigate to <item>` commands and executes them one step at a time."""

    def __init__(self) -> None:
        self.state = CookingState()
        self._last = ""
        #: The target item, its place (-1: none), and the place before the last command.
        self._goal, self._place = "", -1
        self._before = -1

    def see(self, view: View) -> TextState:
        """Update the state from the answer to the last command."""
        self.state.see(view, self._last)
        return self.state.text(view)

    def gave(self, command: str) -> None:
        """Record the command that is about to be sent."""
        self._last, self._before = command, self.state.here

    def stop(self) -> None:
        """Abandon the current path."""
        self._place = -1

    def commands(self) -> tuple[str, ...]:
        """The available `navigate to …` commands, in a fixed order."""
        recipe = self.state.recipe
        if recipe is None:
            return ()
        names = [need.name for need in recipe.needs]
        names += [KNIFE, "cookbook", *sorted(self.state.appliances)]
        return tuple(NAVIGATE + name for name in names if self._is_elsewhere(name))

    def _is_elsewhere(self, name: str) -> bool:
        at, world = self.state.where(name), self.state.world
        return at is not None and at not in (HELD, world.here) and world.route(at) is not None

    def on_the_way(self, view: View) -> Decision | None:
        """The next command on the current path; `None` if the player must choose."""
        if self._place < 0:
            return None
        step = self.state.walk(self._place)
        stuck = step == self._last and self.state.here == self._before
        if step not in view.candidates or stuck:
            self._place = -1  # arrived or blocked
            return None
        return Decision(
            action=step, thoughts=say(f"{self._goal} へ向かう", f"on the way to the {self._goal}")
        )

    def begin(self, decision: Decision, thoughts: str) -> Decision:
        """Turn a decision for `navigate to …` into its first step; return other decisions
        unchanged."""
        if not (item := item_of(decision.action)):
            return decision
        place = self.state.where(item)
        assert place is not None, "only items whose place is known are offered"
        self._goal, self._place = item, place
        return decision.model_copy(
            update={
                "action": self.state.walk(place),
                "thoughts": thoughts,
                "counts": {**decision.counts, "navigations": 1},
            }
        )


def item_of(command: str) -> str:
    """The item of a `navigate to …` command; "" for others."""
    return command.removeprefix(NAVIGATE) if command.startswith(NAVIGATE) else ""


def offered(view: View) -> tuple[str, ...]:
    """The candidates after the filter of the thesis's §6.3.3; all candidates if none is left."""
    return FILTERS["thesis"](view.candidates) or view.candidates
