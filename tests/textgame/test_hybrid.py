"""The hybrid's roles, features and learning: names make no difference, walkthroughs teach."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.core import Act, InputError, World, run
from naisei.textgame.cooking_state import TextState
from naisei.textgame.flow import play_game
from naisei.textgame.hybrid.kind import (
    HybridOptions,
    LinearScorer,
    Roles,
    Weights,
    build,
    features,
    learn,
    read_weights,
    top_one,
)
from naisei.textgame.player import PlayerContext
from naisei.textgame.trained.dataset import choices
from textgame.trained_kit import house, recorded


def state(food: str, held: str) -> TextState:
    return TextState(
        inventory=f"You are carrying: {held}.",
        cookbook=f"Ingredients:\n{food}\nDirections:\nslice the {food}\nfry the {food}\n"
        "prepare meal",
        room="Kitchen",
        fresh=("north",),
        toward="",
    )


@pytest.mark.parametrize(
    ("held", "phase", "to_do"),
    [
        ("a knife", "missing", ""),
        ("an egg", "raw", "both"),
        ("a sliced egg", "raw", "cook"),
        ("a fried egg", "raw", "cut"),
        ("a sliced fried egg", "ready", ""),
        ("a meal", "meal", ""),
    ],
)
def test_how_far_the_meal_has_come(held: str, phase: str, to_do: str) -> None:
    roles = Roles.of(state("egg", held))
    assert (roles.phase, roles.to_do("egg")) == (phase, to_do)
    assert Roles.of(TextState(inventory=f"You are carrying: {held}.")).phase in ("unread", "meal")


@given(st.sampled_from(["egg", "red onion", "block of cheese", "salmon"]))
def test_another_name_gives_the_same_features(food: str) -> None:
    def of(name: str) -> list[tuple[str, ...]]:
        verbs = ("drop {}", "slice {} with knife", "cook {} with stove", "cook {} with oven")
        actions = [verb.format(name) for verb in verbs] + ["go north", "go south", "take flour"]
        return features(state(name, f"a {name} and a knife"), actions)

    assert of(food) == of("carrot")
    kinds = [names[0] for names in of(food)]
    assert kinds == [
        "drop ingredient-both",
        "cut ingredient-both right",
        "cook ingredient-both right",
        "cook ingredient-both wrong",
        "go fresh",
        "go known",
        "take useless",
    ]


def test_ratings_are_probabilities_and_the_inventory_is_never_asked_for() -> None:
    scorer = LinearScorer(Weights(of={"go fresh": 1.0}))
    rated = scorer.score(state("egg", "an egg"), ("go north", "go south", "inventory"))
    assert sum(rated) == pytest.approx(1.0)
    assert rated[0] > rated[1] > rated[2] == 0.0
    assert scorer.score(state("egg", "an egg"), ("inventory",)) == [1.0]
    assert scorer.score(state("egg", "an egg"), ()) == ()


def test_it_learns_to_choose_as_the_walkthrough_and_wins_the_house() -> None:
    of = choices([recorded()], navigator=True, meal=True).of
    weights = learn(of, steps=200)
    assert weights == learn(of, steps=200)
    assert top_one(weights, of) > top_one(Weights(of={}), of)
    assert top_one(weights, [c for c in of if c.action != "inventory"]) >= 0.7


def test_the_bundled_weights_win_the_house_and_never_cook_against_the_book(
    tmp_path: Path,
) -> None:
    assert len(read_weights().of) > 500
    player = build().new(PlayerContext(game="toy", settings=HybridOptions()))
    result = run(play_game("toy", player, max_steps=60), World({Act: house()}))
    assert result.won
    broken = tmp_path / "weights.json"
    broken.write_text("{}")
    with pytest.raises(InputError, match=r"weights\.json"):
        build().new(PlayerContext(game="toy", settings=HybridOptions(weights=str(broken))))
