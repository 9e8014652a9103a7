"""The models that come with the package: their size, what they tell apart, and that they play."""

from __future__ import annotations

import pytest

from naisei.core import Act, World, run
from naisei.textgame.cooking_state import TextState
from naisei.textgame.flow import play_game
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult
from naisei.textgame.trained.encoding import WordPiece
from naisei.textgame.trained.kind import ImitationOptions, build
from naisei.textgame.trained.scorer import TrainedScorer, bundled
from textgame.trained_kit import house

COOKBOOK = (
    "Ingredients:\nred onion\npork chop\nDirections:\n"
    "slice the red onion\nfry the red onion\ngrill the pork chop\nprepare meal"
)


def test_all_models_together_are_small() -> None:
    folder = bundled("imitation")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size <= 25e6
    assert "Apache-2.0" in (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("action", "wrong"),
    [
        ("slice red onion with knife", False),
        ("dice red onion with knife", True),
        ("cook red onion with stove", False),
        ("cook red onion with oven", True),
        ("cook pork chop with BBQ", False),
        ("cook pork chop with stove", True),
        ("cook carrot with oven", True),
        ("take red onion", False),
    ],
)
def test_the_bundled_classifier_reads_the_cookbook(action: str, wrong: bool) -> None:
    from naisei.textgame.trained.kind import _judge

    judge = _judge(ImitationOptions(), "soft")
    assert judge.wrong(COOKBOOK, [action, "examine cookbook"]) == [wrong, False]


def played(**options: object) -> GameResult:
    settings = ImitationOptions.model_validate(options)
    player = build().new(PlayerContext(game="toy", settings=settings))
    return run(play_game("toy", player, max_steps=60), World({Act: house()}))


def test_without_a_model_of_ones_own_the_full_configuration_plays() -> None:
    result = played()
    assert result == played(penalty="soft", navigator=True)
    actions = [step.action for step in result.steps]
    assert "examine cookbook" in actions and "take red onion" in actions


def test_numpy_rates_as_onnxruntime_did() -> None:
    """What onnxruntime 1.32 made of the same weights before they were repacked."""
    state = TextState(
        inventory="You are carrying: a red onion and a knife.",
        cookbook="Ingredients: red onion Directions: slice the red onion fry the red onion "
        "prepare meal",
        room="Kitchen",
        description="You find a stove and an oven. There is a closed fridge here.",
    )
    actions = ["slice red onion with knife", "dice red onion with knife"]
    actions += ["cook red onion with stove", "go east", "open fridge"]
    scorer = TrainedScorer(bundled("imitation") / "scorer", "policy")
    rated = scorer.score(state, actions)
    assert rated == pytest.approx([0.99989, 0.0, 2e-05, 0.0, 0.0], abs=2e-6)
    # What an action is rated depends on no other candidate, nor on their order.
    for order in (actions[:1], actions[::-1], actions[2:4]):
        alone = dict(zip(actions, rated, strict=True))
        assert scorer.score(state, order) == pytest.approx([alone[a] for a in order], abs=1e-6)


def test_the_tokenizer_is_that_of_bert() -> None:
    path = bundled("imitation") / "scorer" / "tokenizer.json"
    ours = WordPiece(path)
    texts = ["A Café's red-onion_dish: «x» 12 日本語", "sliced\u200b\tCARROT\x07s qzqz", "x" * 150]
    names = {number: name for name, number in ours._vocabulary.items()}
    assert [names[n] for n in ours.numbers("Red-Onion é")] == ["red", "-", "onion", "e"]
    assert ours.numbers(texts[2]) == (1,)
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    for text in texts:
        assert ours.numbers(text) == tuple(theirs.encode(text, add_special_tokens=False).ids)
