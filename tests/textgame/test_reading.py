"""From texts to facts."""

from naisei.textgame.schemas import View
from naisei.textgame.texts import Food, Need, read_foods, read_recipe, read_scene

COOKBOOK = """You open the copy of "Cooking: A Modern Approach (3rd Ed.)" and start reading:

Recipe #1
---------
Gather all following ingredients and follow the directions to prepare this tasty meal.

Ingredients:
block of cheese
  black pepper
  red hot pepper

Directions:
slice the block of cheese
  fry the block of cheese
  grill the red hot pepper
  prepare meal
"""


def test_inventory_with_states_articles_and_and() -> None:
    held = read_foods(
        "You are carrying: a sliced fried block of cheese, some water, a raw pork chop and an egg."
    )
    assert held == {
        "block of cheese": Food("block of cheese", "slice", "fry"),
        "water": Food("water"),
        "pork chop": Food("pork chop"),
        "egg": Food("egg"),
    }
    assert read_foods("You are carrying nothing.") == {}
    assert read_foods("") == {}


def test_burned_is_a_state_of_its_own() -> None:
    assert read_foods("You are carrying: a burned carrot.")["carrot"].burned


def test_a_thing_named_like_a_state_keeps_its_name() -> None:
    assert read_foods("You are carrying: a diced.") == {"diced": Food("diced")}


def test_recipe() -> None:
    recipe = read_recipe(COOKBOOK)
    assert recipe is not None
    assert recipe.needs == (
        Need("block of cheese", "slice", "fry"),
        Need("black pepper"),
        Need("red hot pepper", "", "grill"),
    )
    assert recipe.unknown == ()


def test_a_direction_that_is_not_understood_is_named() -> None:
    recipe = read_recipe(COOKBOOK.replace("fry the block", "flambé the block"))
    assert recipe is not None
    assert recipe.unknown == ("flambé the block of cheese",)


def test_no_recipe_in_other_texts() -> None:
    assert read_recipe("You see nothing special about the cookbook.") is None
    assert read_recipe("Ingredients:\nDirections:\n") is None


def test_scene_from_candidates_and_text() -> None:
    view = View(
        room="Kitchen",
        description="-= Kitchen =-\nThere is a closed sliding patio door leading north. "
        "There is an open frosted-glass door leading West. There is an exit to the east.",
        candidates=(
            "go east",
            "go west",
            "open sliding patio door",
            "open fridge",
            "take red apple from counter",
            "take knife",
            "examine stove",
            "go up",
        ),
    )
    scene = read_scene(view)
    assert scene.exits == ("east", "west")
    assert scene.doors == {"north": "sliding patio door", "west": "frosted-glass door"}
    assert scene.closed == {"sliding patio door", "fridge"}
    assert scene.lying == {"red apple": "counter", "knife": ""}
    assert scene.seen == {"stove"}
