"""The cookbook's directions as bare words: a verb and what it is about, none of them understood."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Assignment", "read_assignment"]

_LINE = re.compile(r"^(\w+)\s+(?:the\s+)?(.+?)\.?$")


@dataclass(frozen=True, slots=True)
class Assignment:
    """needs: ingredients. directions: (verb, ingredient). closing: (verb, dish) of directions
    that are about no ingredient, in order."""

    needs: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    closing: tuple[tuple[str, str], ...]


def read_assignment(text: str) -> Assignment | None:
    """What an answer to reading the cookbook asks for; `None` if it holds no recipe."""
    _, found, rest = text.partition("Ingredients:")
    listed, directed, steps = rest.partition("Directions:")
    if not (found and directed):
        return None
    needs = tuple(line.strip() for line in listed.splitlines() if line.strip())
    directions: list[tuple[str, str]] = []
    closing: list[tuple[str, str]] = []
    for line in steps.strip().splitlines():
        if not line.strip():
            break  # what follows is no direction
        if step := _LINE.match(line.strip()):
            (directions if step[2] in needs else closing).append((step[1], step[2]))
    return Assignment(needs, tuple(directions), tuple(closing)) if needs else None
