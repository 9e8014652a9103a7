"""The text of a cookbook, taken apart and put together."""

from __future__ import annotations

__all__ = ["both_recipes", "food_of", "parts"]

_HEADS = ("Ingredients:", "Directions:")
_LAST = "prepare meal"


def parts(cookbook: str) -> tuple[list[str], list[str]] | None:
    """Ingredients and directions, line by line; `None` for a cookbook of another layout."""
    lines = cookbook.splitlines()
    if not lines or lines[0] != _HEADS[0] or _HEADS[1] not in lines:
        return None
    middle = lines.index(_HEADS[1])
    return lines[1:middle], lines[middle + 1 :]


def both_recipes(one: str, other: str) -> str | None:
    """Two cookbooks as one: the ingredients by the alphabet and the directions in their order, as
    TextWorld writes them. `None` where they share an ingredient."""
    first, second = parts(one), parts(other)
    if first is None or second is None or set(first[0]) & set(second[0]):
        return None
    foods = sorted([*first[0], *second[0]])
    directions = [line for line in (*first[1], *second[1]) if line != _LAST]
    directions.sort(key=lambda line: foods.index(_asked_of(line, foods)))
    return "\n".join([_HEADS[0], *foods, _HEADS[1], *directions, _LAST])


def _asked_of(direction: str, foods: list[str]) -> str:
    """`red onion` of `slice the red onion`; the last food where a line names none."""
    name = direction.partition(" the ")[2]
    return name if name in foods else foods[-1]


def food_of(action: str) -> str:
    """`red onion` of `slice red onion with knife`."""
    return action.partition(" ")[2].rpartition(" with ")[0]
