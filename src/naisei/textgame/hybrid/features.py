"""Features of (situation, action), without any name of a food or a room but the kitchen."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.textgame.hybrid.roles import Roles
from naisei.textgame.planner.kitchen import APPLIANCES
from naisei.textgame.trained.navigator import item_of
from naisei.textgame.trained.situation import Situation

__all__ = ["features"]

#: Kinds of actions that serve the recipe here and now.
_USEFUL = (
    "cut ingredient-cut right",
    "cut ingredient-both right",
    "cook ingredient-cook right",
    "cook ingredient-both right",
    "take ingredient",
    "take knife-wanted",
    "navigate ingredient",
    "navigate knife-wanted",
    "navigate appliance-wanted",
)


def features(situation: Situation, actions: Sequence[str]) -> list[tuple[str, ...]]:
    """For each action the names of the features that hold; each is 0 or 1.

    They depend on the other actions by one fact: whether anything that serves the recipe can be
    done at all, or must be looked for.
    """
    roles = Roles.of(situation)
    kinds = [_kind(roles, situation, action) for action in actions]
    able = "able" if any(kind.startswith(_USEFUL) for kind in kinds) else "seeking"
    return [
        _of(roles, situation, kind, able, _leaves(roles, action))
        for kind, action in zip(kinds, actions, strict=True)
    ]


def _of(roles: Roles, situation: Situation, kind: str, able: str, leaves: str) -> tuple[str, ...]:
    load = min(len(roles.held), 4)
    useless = min(sum(roles.thing(name) == "useless" for name in roles.held), 2)
    return (
        kind,
        f"{kind} | {roles.phase}",
        f"{kind} | {roles.phase} | {able}",
        f"{kind} | {roles.phase} | {_room(situation)}",
        f"{kind} | cuts {roles.cuts} | {roles.phase}",
        f"{kind} | holds {load} of {min(len(roles.needs), 5)}",
        f"{kind} | useless {useless} | {roles.phase}",
        f"{kind} | knife {'knife' in roles.held} | cuts {roles.cuts}",
        f"{kind} | {leaves}",
    )


def _leaves(roles: Roles, action: str) -> str:
    """What dropping a thing leaves to be cut: `cuts`, `none`; empty for other actions."""
    verb, _, dropped = action.partition(" ")
    if verb != "drop":
        return ""
    others = (name for name in roles.needs if name != dropped)
    return "cuts" if any(roles.to_do(name) in ("cut", "both") for name in others) else "none"


def _room(situation: Situation) -> str:
    return "kitchen" if situation.room.lower() == "kitchen" else "elsewhere"


def _way(situation: Situation, direction: str) -> str:
    """`fresh`: nobody has gone it; `toward`: it leads to the nearest such way."""
    if direction in situation.fresh:
        return "fresh"
    return "toward" if direction == situation.toward else "known"


def _kind(roles: Roles, situation: Situation, action: str) -> str:
    """The action with roles in place of names."""
    verb, _, rest = action.partition(" ")
    if item := item_of(action):
        return f"navigate {roles.thing(item)}"
    if verb == "take":
        return f"take {roles.thing(rest.partition(' from ')[0])}"
    if verb == "drop":
        return f"drop {roles.thing(rest)}"
    if verb in ("slice", "dice", "chop"):
        name = rest.partition(" with ")[0]
        need = roles.needs.get(name)
        right = need is not None and need.cut == verb
        return f"cut {roles.thing(name)} {'right' if right else 'wrong'}"
    if verb == "cook":
        name, _, tool = rest.rpartition(" with ")
        need = roles.needs.get(name)
        right = need is not None and tool in APPLIANCES.get(need.cook, ())
        return f"cook {roles.thing(name)} {'right' if right else 'wrong'}"
    if verb == "open":
        return "open door" if rest.endswith(("door", "gate")) else "open container"
    if verb == "go":
        return f"go {_way(situation, rest)}"
    return action
