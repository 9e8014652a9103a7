"""Who is who in a situation: names of foods give way to what the recipe wants of them."""

from __future__ import annotations

from dataclasses import dataclass

from naisei.textgame.planner.kitchen import APPLIANCES, KNIFE
from naisei.textgame.reading import Food, read_foods, read_recipe
from naisei.textgame.reading.recipe import Need
from naisei.textgame.trained.situation import Situation

__all__ = ["Roles"]


@dataclass(frozen=True, slots=True)
class Roles:
    """held: name → thing in hand. needs: ingredient → what is wanted; empty before the cookbook
    was read (`read` is then false)."""

    held: dict[str, Food]
    needs: dict[str, Need]
    read: bool

    @classmethod
    def of(cls, situation: Situation) -> Roles:
        recipe = read_recipe(situation.cookbook)
        needs = {need.name: need for need in recipe.needs} if recipe is not None else {}
        return cls(read_foods(situation.inventory), needs, recipe is not None)

    @property
    def phase(self) -> str:
        """How far the meal has come: `unread`, `missing` (an ingredient is not in hand), `raw`
        (all are, and something must be cut or cooked), `ready`, `meal`."""
        if "meal" in self.held:
            return "meal"
        if not self.read:
            return "unread"
        if any(name not in self.held for name in self.needs):
            return "missing"
        return "raw" if any(self.to_do(name) for name in self.needs) else "ready"

    def to_do(self, name: str) -> str:
        """What an ingredient in hand still needs: `cut`, `cook`, `both` or nothing."""
        need, food = self.needs.get(name), self.held.get(name)
        if need is None or food is None:
            return ""
        cut, cook = bool(need.cut and not food.cut), bool(need.cook and not food.cooked)
        return "both" if cut and cook else "cut" if cut else "cook" if cook else ""

    @property
    def cuts(self) -> bool:
        """Whether something in hand is to be cut."""
        return any(self.to_do(name) in ("cut", "both") for name in self.needs)

    def thing(self, name: str) -> str:
        """The role of a thing that can be taken, dropped or walked to."""
        if name == "meal":
            return "meal"
        if name == KNIFE:
            return "knife-wanted" if self.cuts else "knife"
        if name == "cookbook":
            return "cookbook"
        if any(name in tools for tools in APPLIANCES.values()):
            return "appliance-wanted" if self._wanted(name) else "appliance"
        if not self.read:
            return "food"
        if name not in self.needs:
            return "useless"
        return f"ingredient-{self.to_do(name) or 'done'}" if name in self.held else "ingredient"

    def _wanted(self, appliance: str) -> bool:
        return any(
            self.to_do(name) in ("cook", "both") and appliance in APPLIANCES.get(need.cook, ())
            for name, need in self.needs.items()
        )
