"""What the cookbook asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.textgame.reading.foods import COOKED, CUT

__all__ = ["Need", "Recipe", "read_recipe"]

_STEP = re.compile(r"^(\w+) the (.+)$")
_CUTS, _COOKS = set(CUT.values()), set(COOKED.values()) - {"burn"}


@dataclass(frozen=True, slots=True)
class Need:
    """How one ingredient has to be: verbs, or empty where it stays as it is."""

    name: str
    cut: str = ""
    cook: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The ingredients in the cookbook's order, and directions that were not understood."""

    needs: tuple[Need, ...]
    unknown: tuple[str, ...] = ()


def read_recipe(text: str) -> Recipe | None:
    """The recipe in the answer to `examine cookbook`; `None` if there is none in it."""
    _, found, rest = text.partition("Ingredients:")
    listed, directed, steps = rest.partition("Directions:")
    if not (found and directed):
        return None
    names = [line.strip() for line in listed.splitlines() if line.strip()]
    cut: dict[str, str] = {}
    cook: dict[str, str] = {}
    unknown = []
    for line in (line.strip() for line in steps.splitlines() if line.strip()):
        step = _STEP.match(line)
        if step and step[2] in names and step[1] in _CUTS:
            cut[step[2]] = step[1]
        elif step and step[2] in names and step[1] in _COOKS:
            cook[step[2]] = step[1]
        elif line.rstrip(".") == "prepare meal":
            break  # what follows is no direction of the recipe
        else:
            unknown.append(line)
    needs = tuple(Need(name, cut.get(name, ""), cook.get(name, "")) for name in names)
    return Recipe(needs, tuple(unknown)) if needs else None
