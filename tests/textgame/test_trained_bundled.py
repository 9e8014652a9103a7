"""The models that come with the package: their size, what they tell apart, and that they play."""

from __future__ import annotations

import pytest

from naisei.core import Act, World, run
from naisei.textgame.flow import play_game
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult
from naisei.textgame.trained.kind import ImitationOptions, build
from naisei.textgame.trained.model_dir import bundled
from textgame.trained_kit import house

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

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
