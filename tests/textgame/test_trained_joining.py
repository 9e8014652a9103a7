"""Two games as one, for longer recipes than any train game has."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from naisei.textgame.cooking_state import TextState
from naisei.textgame.trained.dataset import Choice, Processing
from naisei.textgame.trained.training.augmentation import Joiner, begun, finished, joined

ONION = "Ingredients:\nred onion\nsalt\nDirections:\ndice the red onion\nprepare meal"
CARROT = "Ingredients:\ncarrot\nDirections:\nslice the carrot\nfry the carrot\nprepare meal"
BOTH = (
    "Ingredients:\ncarrot\nred onion\nsalt\n"
    "Directions:\nslice the carrot\nfry the carrot\ndice the red onion\nprepare meal"
)


def choice(cookbook: str, inventory: str, action: str, *others: str, room: str = "") -> Choice:
    state = TextState(
        inventory=f"You are carrying{inventory}.",
        cookbook=cookbook,
        room="Kitchen",
        description=room,
    )
    return Choice("game", state, action, others)


COOKING = choice(
    ONION, ": a knife and some salt", "take red onion", "drop knife", "drop salt", "go east",
    "cook salt with stove", room="You see a red onion on the table.",
)  # fmt: skip
MEAL = choice(
    CARROT, ": a knife and a sliced fried carrot", "prepare meal", "drop carrot", "drop knife",
    "cook carrot with stove", "cook carrot with BBQ", "slice carrot with knife", "take egg",
)  # fmt: skip


def test_two_cookbooks_become_one_and_no_label_is_of_the_wrong_recipe() -> None:
    one = Processing(
        "Ingredients:\nred onion\nsalt\nDirections:\ndice the red onion\nprepare meal",
        ("dice red onion with knife", "slice red onion with knife", "slice carrot with knife"),
        (0, 1, 1),
    )
    other = Processing(
        "Ingredients:\ncarrot\nDirections:\nslice the carrot\nprepare meal",
        ("slice carrot with knife", "cook egg with stove"),
        (0, 1),
    )
    both = joined(one, other)
    assert both is not None
    assert both.cookbook == (
        "Ingredients:\ncarrot\nred onion\nsalt\n"
        "Directions:\nslice the carrot\ndice the red onion\nprepare meal"
    )
    assert dict(zip(both.actions, both.wrong, strict=True)) == {
        "dice red onion with knife": 0,
        "slice red onion with knife": 1,
        "slice carrot with knife": 0,
        "cook egg with stove": 1,
    }
    assert joined(one, one) is None, "they share an ingredient"
    assert joined(one, Processing("", other.actions, other.wrong)) is None
    never, always = (Joiner([one, other], share=share) for share in (0.0, 1.0))
    assert all(never.source(0, seed=str(n)) is one for n in range(9))
    made = [always.source(0, seed=str(n)) for n in range(9)]
    assert both in made and one in made
    assert made == [always.source(0, seed=str(n)) for n in range(9)]


def test_beside_a_finished_game_its_foods_are_in_hand_and_must_stay_as_they_are() -> None:
    both = finished(COOKING, MEAL, Random(0))
    assert both is not None and both.action == COOKING.action
    assert both.state.cookbook == BOTH
    held = both.state.inventory
    assert all(part in held for part in ("a knife", "some salt", "a sliced fried carrot"))
    assert held.count("knife") == 1, "only what its recipe asks for comes along"
    assert both.state.held.startswith("3 ")
    # There is a stove here, but neither a BBQ nor, among the actions, anything to cut.
    spoiling = ("drop carrot", "cook carrot with stove")
    assert both.others == (*COOKING.others, *spoiling)


def test_with_empty_hands_only_the_other_games_foods_are_held() -> None:
    both = finished(choice(ONION, " nothing", "take red onion", "go east"), MEAL, Random(0))
    assert both is not None
    assert both.state.inventory == "You are carrying: a sliced fried carrot."


def test_beside_a_game_not_yet_begun_only_the_recipe_is_longer() -> None:
    both = begun(COOKING, MEAL)
    assert both is not None and both.state.cookbook == BOTH
    assert both.state.inventory == COOKING.state.inventory
    assert (both.action, both.others) == (COOKING.action, COOKING.others)


def test_what_would_be_wrong_of_both_is_not_joined() -> None:
    own = choice(ONION, ": a diced red onion and some salt", "prepare meal", "drop salt")
    assert finished(own, MEAL, Random(0)) is not None
    assert begun(own, MEAL) is None, "the other's carrot is still missing"
    assert begun(replace(COOKING, action="drop knife"), MEAL) is None, "it is needed again"
    seen = choice(ONION, ": a carrot", "drop carrot", "go east")
    assert begun(seen, MEAL) is None and finished(seen, MEAL, Random(0)) is None
    elsewhere = choice(CARROT, ": a knife", "prepare meal")
    assert finished(COOKING, elsewhere, Random(0)) is None, "its carrot is not in hand"
    assert begun(COOKING, choice("torn out", "", "prepare meal")) is None


def test_a_policy_joins_states_that_know_their_recipe() -> None:
    unread, eaten = (
        replace(COOKING, state=TextState(room="Hall")),
        replace(MEAL, action="eat meal"),
    )
    sources = [COOKING, MEAL, unread, eaten]
    never, always = (Joiner(sources, share=share) for share in (0.0, 1.0))
    assert all(never.source(0, seed=str(n)) is COOKING for n in range(9))
    made = [always.source(0, seed=str(n)) for n in range(40)]
    assert made == [always.source(0, seed=str(n)) for n in range(40)]
    texts = {each.state.text for each in made if isinstance(each, Choice)}
    assert len(texts) > 2, "finished and not yet begun, in several orders"
    assert all(always.source(n, seed=str(s)) is sources[n] for n in (2, 3) for s in range(9))
    alone = Joiner([COOKING, unread], share=1.0)
    assert alone.source(0, seed="0") is COOKING, "no game here ends"
