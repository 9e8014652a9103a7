"""The trained player's parts that need no model: texts, UCB1, labels, navigator, rewriting."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.textgame.cooking_state import TextState, cookbook_text, fit, offered
from naisei.textgame.schemas import View
from naisei.textgame.trained.dataset import (
    Choice,
    choices,
    negatives,
    processing_examples,
    rewrite,
    wrong_actions,
)
from naisei.textgame.trained.kind import (
    ExtremeJudge,
    LearnedJudge,
    RecipeJudge,
    Visits,
    ucb1,
    visit_key,
)
from textgame.trained_kit import SOLUTION, ByRule, recorded

BOOK = (
    "Ingredients:\nred onion\nDirections:\nslice the red onion\nroast the red onion\nprepare meal"
)
NUMBERS = st.lists(st.integers(0, 99), max_size=30)


def test_the_text_is_count_inventory_cookbook_environment() -> None:
    view = View(
        room="Kitchen",
        description="-= Kitchen =-\nYou are in\n\n a kitchen.",
        inventory="You are carrying: a knife and a red onion.",
    )
    text = TextState.of(view, "Ingredients:\nred onion").text
    assert text == (
        "2 You are carrying: a knife and a red onion. Ingredients: red onion "
        "Kitchen. You are in a kitchen."
    )


def test_the_cookbook_is_what_stands_between_its_headings() -> None:
    answer = (
        "You open it.\n\nRecipe #1\n\nIngredients:\n  egg\n\nDirections:\n  prepare meal\n\nOk."
    )
    assert cookbook_text(answer) == "Ingredients:\negg\nDirections:\nprepare meal"
    assert cookbook_text("You take the egg.") == ""


@given(NUMBERS, NUMBERS, NUMBERS, st.integers(1, 60))
def test_what_does_not_fit_is_cut_from_the_environment_first(
    own: list[int], around: list[int], action: list[int], limit: int
) -> None:
    first, second = fit(own, around, action, limit=limit)
    assert len(first) + len(second) == min(limit, len(own) + len(around) + len(action))
    assert second == action[:limit]
    assert first == (own + around)[: len(first)]
    if len(own) + len(action) <= limit:
        assert first[: len(own)] == own


def test_equation_5_1() -> None:
    assert ucb1(0.3, 0, 9) == pytest.approx(5.3)
    assert ucb1(0.3, 2, 9) == pytest.approx(0.3 + sqrt(2 * log(9) / 2))
    assert ucb1(0.3, 1, 1) == pytest.approx(0.3)


def test_visits_belong_to_a_visit_key_room_description_and_points() -> None:
    here = View(room="A", description="an apple", inventory="nothing", score=0)
    visits = Visits()
    for recipe in (False, True):
        visits.add(visit_key(here, recipe=recipe), "look")
        again = here.model_copy(update={"inventory": "an egg", "feedback": "x"})
        assert visits.of(visit_key(again, recipe=recipe))["look"] == 1
        for change in ({"room": "B"}, {"description": "a pear"}):
            other = visit_key(here.model_copy(update=change), recipe=recipe)
            assert visits.of(other).get("look", 0) == 0
        won = visit_key(here.model_copy(update={"score": 3}), recipe=recipe)
        assert visits.of(won).get("look", 0) == (0 if recipe else 1)


def test_what_cannot_be_undone_is_counted_in_the_whole_game() -> None:
    kitchen = View(room="Kitchen", description="a stove", score=0)
    later = kitchen.model_copy(update={"score": 1})
    visits = Visits()
    for action in ("cook egg with stove", "take knife"):
        visits.add(visit_key(kitchen, recipe=True), action)
    assert visits.of(visit_key(kitchen, recipe=True)) == {"cook egg with stove": 1, "take knife": 1}
    assert visits.of(visit_key(later, recipe=True)) == {"cook egg with stove": 1}


def test_labels_are_zero_for_the_walkthroughs_actions_and_each_action_comes_once() -> None:
    states = [("slice egg with knife", "dice egg with knife", "go east"), ("dice egg with knife",)]
    made = processing_examples("g", BOOK, states, {"dice egg with knife"})
    assert {m.action: m.wrong for m in made} == {
        "slice egg with knife": 1,
        "dice egg with knife": 0,
    }
    assert len(made) == 2
    assert processing_examples("g", "", states, set()) == []


def test_a_walkthrough_is_recorded_without_what_the_engine_would_not_accept() -> None:
    game = recorded()
    assert game.won and game.inadmissible == 1
    assert [s.action for s in game.steps] == [c for c in SOLUTION if c != "open plain door"]
    first, book = game.steps[0], game.steps[4]
    assert first.state.cookbook == "" and book.state.cookbook == BOOK
    assert not any(c.startswith(("look", "close", "eat red")) for c in first.candidates)
    assert first.navigate == ()
    assert set(book.navigate) == {"navigate to red onion"}


def test_rewriting_replaces_the_ways_to_known_items() -> None:
    rewritten = rewrite(recorded().steps)
    assert [s.action for s in rewritten.steps] == [
        "inventory",
        "go north",
        "go east",
        "examine cookbook",
        "navigate to red onion",
        "take red onion",
        "navigate to knife",
        "take knife",
        "slice red onion with knife",
        "cook red onion with oven",
        "prepare meal",
        "eat meal",
    ]
    assert rewritten.counts == Counter(commands=14, moves=6, places=2, replaced=4)


def test_rewriting_leaves_the_way_to_the_meal_unless_asked() -> None:
    carried = [c for c in SOLUTION if "knife" not in c and "cook red" not in c]
    steps = recorded(carried).steps
    assert "go east" in [s.action for s in rewrite(steps).steps][4:]
    assert "navigate to cookbook" in [s.action for s in rewrite(steps, meal=True).steps]


def test_choices_hold_the_positive_apart_and_navigate_only_with_a_navigator() -> None:
    game = recorded()
    plain, moved = choices([game], navigator=False), choices([game], navigator=True)
    assert len(plain.of) == 14 and len(moved.of) == 12
    assert all(c.action not in c.others and c.others for c in (*plain.of, *moved.of))
    assert not any("navigate" in a for c in plain.of for a in (c.action, *c.others))
    assert {(w.action, w.wrong) for w in wrong_actions([game])} == {
        ("slice red onion with knife", 0),
        ("dice red onion with knife", 1),
        ("chop red onion with knife", 1),
        ("cook red onion with oven", 0),
        ("cook red onion with stove", 1),
    }


@given(st.integers(0, 12), st.integers(1, 8), st.text(max_size=4))
def test_negatives_are_different_candidates_and_the_same_for_a_seed(
    size: int, count: int, seed: str
) -> None:
    choice = Choice("g", TextState(), "yes", tuple(map(str, range(size))))
    drawn = negatives(choice, count, seed=seed)
    assert drawn == negatives(choice, count, seed=seed)
    assert len(set(drawn)) == len(drawn) == min(size, count)
    assert set(drawn) <= set(choice.others)


def test_the_player_chooses_from_what_the_filter_leaves() -> None:
    assert offered(View(candidates=("look", "go east", "eat meal"))) == ("go east", "eat meal")
    assert offered(View(candidates=("look",))) == ("look",)


def test_judges() -> None:
    actions = (
        "slice red onion with knife",
        "dice red onion with knife",
        "cook red onion with oven",
        "cook red onion with stove",
        "cook egg with oven",
        "take red onion from fridge",
        "take knife",
        "prepare meal",
        "go east",
    )
    by_recipe = RecipeJudge().wrong(BOOK, actions)
    assert by_recipe == [False, True, False, True, True, False, False, False, False]
    # A cookbook that was not read asks for nothing.
    assert RecipeJudge().wrong("", actions) == [True] * 5 + [False] * 4
    extreme = ExtremeJudge().wrong("", actions)
    assert extreme == [True, True, True, True, True, True, False, True, False]
    learned = LearnedJudge(ByRule(lambda s, a: 0.9 if "dice" in a else 0.1))
    assert learned.wrong(BOOK, actions) == [a.startswith("dice") for a in actions]
    assert learned.wrong("", actions) == RecipeJudge().wrong("", actions)
