"""Commands without their names: what is tried on one ingredient teaches about every other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

__all__ = ["DISH", "NEEDED", "OTHER", "Roles", "instrument", "matching"]

#: Roles that stand for names in a template.
NEEDED, DISH, OTHER, FIXED, HOLDER = "NEEDED", "DISH", "OTHER", "FIXED", "HOLDER"
#: What a thing is moved to or from says nothing of cooking; what something is done *with* may.
_SECOND = re.compile(r" (with|from|on|into|in) ")


@dataclass(frozen=True, slots=True)
class Roles:
    """needed: ingredients of the recipe. dishes: what its directions name besides them.
    portable: everything that was held, or could be taken."""

    needed: Collection[str]
    dishes: Collection[str]
    portable: Collection[str]

    def template(self, command: str) -> tuple[str, str]:
        """(template, the thing that it is about), from `cook red apple with stove` to
        `("cook NEEDED with stove", "red apple")`; the thing is empty where there is none."""
        verb, _, rest = command.partition(" ")
        if not rest:
            return verb, ""
        if verb == "go":
            return "go", ""
        parts = _SECOND.split(rest, maxsplit=1)
        thing, role = parts[0], self._role(parts[0])
        if len(parts) == 1:
            return f"{verb} {role}", thing
        second = parts[2] if parts[1] == "with" else HOLDER
        return f"{verb} {role} {parts[1]} {second}", thing

    def _role(self, thing: str) -> str:
        if thing in self.needed:
            return NEEDED
        if thing in self.dishes:
            return DISH
        return OTHER if thing in self.portable else FIXED


def instrument(template: str) -> str:
    """What it is done with; empty if nothing is named."""
    return template.partition(" with ")[2]


def matching(roles: Roles, commands: Iterable[str], template: str, thing: str) -> str:
    """The first command of that template about the thing; empty if there is none."""
    return next((c for c in sorted(commands) if roles.template(c) == (template, thing)), "")
