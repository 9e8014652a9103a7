"""The trained player, with scorers that are rules: what UCB1, the penalty and the navigator do."""

from __future__ import annotations

import pytest

from naisei.core import Act, InputError, World, run
from naisei.plugins import typed
from naisei.textgame.cooking_state import TextState
from naisei.textgame.flow import play_game
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult, View
from naisei.textgame.trained.kind import (
    ExtremeJudge,
    ImitationOptions,
    ImitationPlayer,
    Judge,
    NoJudge,
    Penalty,
    RecipeJudge,
    build,
)
from textgame.toy_kitchen import ToyKitchen
from textgame.trained_kit import ByRule, house


def play(
    rate: object,
    *,
    judge: Judge | None = None,
    penalty: Penalty = "none",
    ucb: bool = True,
    navigator: bool = True,
    steps: int = 40,
    game: ToyKitchen | None = None,
) -> GameResult:
    player = ImitationPlayer(
        ByRule(rate),  # type: ignore[arg-type]
        judge or NoJudge(),
        penalty=penalty,
        explore="ucb1" if ucb else "none",
        navigator=navigator,
    )
    return run(play_game("toy", player, max_steps=steps), World({Act: game or house()}))


def sensible(state: TextState, action: str) -> float:
    """Reads the cookbook, then does what it asks for, but prefers dicing to slicing."""
    order = (
        "eat meal",
        "dice",
        "slice",
        "take knife",
        "take red onion",
        "cook red onion with oven",
        "navigate to red onion",
        "go east",
        "go north",
        "navigate to knife",
    )
    if action.startswith("cook") and "roasted" in state.inventory:
        return 0.0
    if action == "examine cookbook" and not state.cookbook:
        return 1.0
    if action == "prepare meal":
        return 0.95 if "sliced roasted red onion" in state.inventory else 0.0
    return next((0.9 - i / 20 for i, start in enumerate(order) if action.startswith(start)), 0.0)


def straight(state: TextState, action: str) -> float:
    return 0.0 if action.startswith("dice") else sensible(state, action)


def test_it_plays_to_the_end_by_its_scorer_and_walks_by_commands() -> None:
    result = play(lambda s, a: 0.0 if a == "take red onion" and not s.cookbook else straight(s, a))
    actions = [step.action for step in result.steps]
    assert result.won
    at = next(i for i, s in enumerate(result.steps) if s.counts.get("navigations"))
    assert actions[at : at + 2] == ["go west", "go south"]
    assert not any(a.startswith("navigate") for a in actions)
    assert "navigate to red onion" in result.steps[at].thoughts


def test_two_commands_in_one_direction_are_no_blocked_way() -> None:
    rooms = ("Garden", "Corridor", "Kitchen")
    ways = {"Garden": ("go east",), "Corridor": ("go east", "go west"), "Kitchen": ("go west",)}
    book = "Ingredients:\n  red apple\n\nDirections:\n  fry the red apple\n  prepare meal"
    tried: list[str] = []

    def seen(room: str, feedback: str = "") -> View:
        stove = " You can see a stove." if room == rooms[2] else ""
        description = f"-= {room} =-\nYou are in the {room.lower()}.{stove}"
        return View(
            room=room,
            description=description,
            inventory="You are carrying nothing.",
            candidates=ways[room],
            feedback=feedback or description,
        )

    def rate(state: TextState, action: str) -> float:
        tried.append(action)
        if state.room == rooms[0] and action == "navigate to stove":
            return 0.9
        return 0.5 if action == "go west" else 0.1

    player = ImitationPlayer(
        ByRule(rate), NoJudge(), penalty="none", explore="ucb1", navigator=True
    )

    def decided(view: View) -> str:
        return run(player.decide(view), World({})).action

    came = [decided(seen(rooms[2], book)), decided(seen(rooms[1]))]
    came.append(decided(seen(rooms[0])))
    assert came[-1] == "go east"
    assert "navigate to stove" in tried
    tried.clear()
    assert decided(seen(rooms[1])) == "go east"
    assert not tried, "still on its way"
    assert decided(seen(rooms[1], "You cannot.")) in ways["Corridor"]
    assert tried, "it does not go on, so it chooses anew"


def test_ucb1_tries_everything_before_it_repeats_and_without_it_nothing_is_tried() -> None:
    stubborn = play(lambda s, a: float(a == "inventory"), ucb=False, steps=6)
    assert [step.action for step in stubborn.steps] == ["inventory"] * 6
    curious = play(lambda s, a: float(a == "inventory"), steps=6)
    assert next(step.action for step in curious.steps) == "inventory"
    assert len({(s.room, s.action) for s in curious.steps}) == len(curious.steps)


def test_an_unpunished_wrong_action_loses_and_the_soft_penalty_saves_the_game() -> None:
    assert play(sensible).lost
    saved = play(sensible, judge=RecipeJudge(), penalty="soft")
    assert saved.won


def test_what_the_game_cooked_is_not_cooked_again() -> None:
    def fond(state: TextState, action: str) -> float:
        return 1.0 if action.startswith("cook red onion with oven") else straight(state, action)

    def roasted() -> ToyKitchen:
        game = house()
        game.states = {"red onion": ("", "roasted")}
        return game

    assert play(fond, game=roasted()).lost
    assert play(fond, penalty="soft", game=roasted()).won


def test_a_soft_penalty_delays_and_elimination_forbids() -> None:
    soft = play(straight, judge=ExtremeJudge(), penalty="soft", steps=100)
    hard = play(straight, judge=ExtremeJudge(), penalty="hard", steps=100)
    taken = [s.action for s in soft.steps if s.action.startswith("take red")]
    assert taken, "what is wrongly judged wrong is still possible"
    assert not hard.won and not hard.lost
    assert not any(s.action.startswith(("take red", "slice", "cook", "eat")) for s in hard.steps)


def test_elimination_of_everything_gives_up() -> None:
    class Everything:
        def wrong(self, cookbook: str, actions: object) -> list[bool]:
            return [True] * len(list(actions))  # type: ignore[call-overload]

    result = play(straight, judge=Everything(), penalty="hard")
    assert result.gave_up and not result.steps


def test_options_and_a_missing_model() -> None:
    assert typed(ImitationOptions, {"penalty": "soft", "navigator": "false"}) == {
        "penalty": "soft",
        "navigator": False,
    }
    with pytest.raises(InputError, match="no trained model"):
        build().new(PlayerContext(game="g", settings=ImitationOptions(model="/nowhere")))
    with pytest.raises(InputError, match="UCB1"):
        build().new(PlayerContext(game="g", settings=ImitationOptions(penalty="soft", ucb=False)))
