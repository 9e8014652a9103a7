"""What textworld's list of commands leaves out is offered to every player."""

from __future__ import annotations

from naisei.textgame.engine.process import completed
from naisei.textgame.schemas import View

HELD = View(inventory="You are carrying: a meal.", candidates=("go east", "prepare meal"))


def test_a_meal_in_hand_can_be_eaten() -> None:
    assert completed(HELD).candidates == ("go east", "prepare meal", "eat meal")


def test_the_list_is_left_as_it_is_where_nothing_is_missing() -> None:
    listed = HELD.model_copy(update={"candidates": ("eat meal", "go east")})
    assert completed(listed) is listed
    empty = View(inventory="You are carrying nothing.", candidates=("go east",))
    assert completed(empty) is empty
    over = HELD.model_copy(update={"done": True})
    assert completed(over) is over
