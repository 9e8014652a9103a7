"""What players believe before each command, and what surprised them."""

from __future__ import annotations

from naisei.core import Act, Embed, World, run
from naisei.models.embedders import EmbedHandler, NgramEmbedder
from naisei.runs.lines import as_text
from naisei.textgame.flow import play_game
from naisei.textgame.lines import game_lines
from naisei.textgame.planner.explore import Prior
from naisei.textgame.planner.kind import CookingPlanner
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult
from naisei.textgame.tidy.kind import TidyPlayer
from textgame.tidy_house import ToyHouse
from textgame.toy_kitchen import ToyKitchen


def surprises(result: GameResult) -> list[str]:
    return [step.mind.surprise for step in result.steps if step.mind and step.mind.surprise]


def test_the_planner_tells_where_it_expects_what_it_looks_for_and_what_was_elsewhere() -> None:
    game = ToyKitchen(
        rooms={(0, 0): "Kitchen", (1, 0): "Pantry", (0, 1): "Garden"},
        doors={},
        things={"knife": (0, 0), "carrot": (1, 0), "egg": (0, 1)},
        inside={},
        containers={},
        appliances={"stove": (0, 0), "oven": (0, 0), "BBQ": (0, 1)},
        needs={"carrot": ("", ""), "egg": ("", "")},
        states={"carrot": ("", ""), "egg": ("", "")},
        hands=99,
        here=(0, 0),
        kitchen=(0, 0),
    )
    prior = Prior(
        lies={"carrot": {"garden": 9, "pantry": 1}, "egg": {"garden": 5}},
        beyond={"kitchen|": {"garden": 1, "pantry": 1}},
    )
    result = run(play_game("toy", CookingPlanner(prior), max_steps=40), World({Act: game}))
    assert result.won
    minds = [mind for mind in result.minds() if mind is not None]
    told = next(mind for mind in minds if mind.expects)
    assert [(e.thing, e.where, e.chance) for e in told.expects] == [
        ("carrot", "garden", 0.9),
        ("carrot", "pantry", 0.1),
        ("egg", "garden", 1.0),
    ]
    assert any("carrot was in the Pantry" in text for text in surprises(result))
    assert not any("egg" in text for text in surprises(result))
    assert "expected: carrot: garden 90%, pantry 10%" in as_text(game_lines(result))


def test_a_sure_place_that_gives_no_point_is_a_surprise_and_is_expected_no_more() -> None:
    house = ToyHouse(
        {"Bedroom": ["into:wardrobe", "into:chest of drawers", "bed", "writing desk"]},
        {"clean tie": "bed"},
        {"clean tie": {"writing desk"}},
    )
    player = TidyPlayer(PlayerContext(game="toy", max_steps=40))
    world = World({Act: house, Embed: EmbedHandler(NgramEmbedder())})
    result = run(play_game("toy", player, max_steps=40), world)
    assert result.won
    first = result.steps[0].mind
    assert first is not None and first.expects[0].thing == "clean tie"
    tried = first.expects[0].where.partition(" (")[0]
    assert tried in surprises(result)[0]
    after = [mind for mind in result.minds()[-1:] if mind is not None]
    assert all(not e.where.startswith(tried) for mind in after for e in mind.expects)
