"""A house of 210 rooms: played rightly, and fast enough."""

from __future__ import annotations

import pytest

from naisei.core import Act, Where, World, run
from naisei.textgame.planner.explore import Prior
from naisei.textgame.planner.kind import CookingPlanner
from naisei.textgame.schemas import START, View
from textgame.toy_kitchen import ToyKitchen

WIDE, HIGH = 14, 15


def house(*, named: bool) -> ToyKitchen:
    """The cook book in one corner, what it asks for in two others. named: each room has a name of
    its own; else all are corridors."""
    rooms = {
        (x, y): f"Room {x} {y}" if named else "Corridor" for x in range(WIDE) for y in range(HIGH)
    }
    return ToyKitchen(
        rooms=rooms | {(0, 0): "Kitchen"},
        doors={},
        things={"cookbook": (0, 0), "knife": (WIDE - 1, HIGH - 1), "carrot": (WIDE - 1, 0)},
        inside={},
        containers={},
        appliances={"stove": (0, 0), "oven": (0, 0)},
        needs={"carrot": ("diced", "fried")},
        states={"carrot": ("", "")},
        hands=3,
        here=(WIDE // 2, HIGH // 2),
        kitchen=(0, 0),
    )


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_it_is_won(named: bool) -> None:
    game, player, world = house(named=named), CookingPlanner(Prior()), World({})
    view = View.of(game.perform(Act(START), Where()))
    decisions = 0
    while not view.done and decisions < 1000:
        decision = run(player.decide(view), world)
        decisions += 1
        assert decision.action, decision.thoughts
        view = View.of(game.perform(Act(decision.action), Where()))
    assert view.won
