"""Features of (situation, action), without any name of a food or a room but the kitchen."""

from __future__ import annotations

from naisei.textgame.hybrid.roles import Roles
from naisei.textgame.planner.kitchen import APPLIANCES
from naisei.textgame.trained.navigator import item_of
from naisei.textgame.trained.situation import Situation

__all__ = ["features"]


def features(roles: Roles, situation: Situation, action: str) -> tuple[str, ...]:
    """Names of the features that hold; each is 0 or 1."""
    kind = _kind(roles, situation, action)
    load = min(len(roles.held), 4)
    more = len([name for name in roles.held if roles.thing(name) == "useless"])
    return (
        kind,
        f"{kind} | {roles.phase}",
        f"{kind} | {roles.phase} | {_room(situation)}",
        f"{kind} | cuts {roles.cuts} | {roles.phase}",
        f"{kind} | holds {load} of {min(len(roles.needs), 5)}",
        f"{kind} | useless {min(more, 2)} | {roles.phase}",
        f"{kind} | knife {'knife' in roles.held} | cuts {roles.cuts}",
    )


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
