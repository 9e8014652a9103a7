"""The player of tidying-up games, in toy houses."""

from __future__ import annotations

import pytest

from naisei.core import Act, Embed, World, play, run
from naisei.models.embedders import EmbedHandler, NgramEmbedder
from naisei.textgame.flow import play_game
from naisei.textgame.planner.kind import CookingPlanner, build, is_tidying
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import GameResult, View
from naisei.textgame.tidy.kind import TidyPlayer
from textgame.tidy_house import INTRO, ToyHouse

KITCHEN = [
    "into:fridge", "into:kitchen cupboard", "into:cutlery drawer", "into:trash can",
    "into:dishwasher", "dining table", "counter", "stove", "dining chair",
]  # fmt: skip
LAUNDRY = ["into:washing machine", "into:laundry basket", "into:clothes drier", "suspended shelf",
           "work table", "bench"]  # fmt: skip
CORRIDOR = ["into:shoe cabinet", "key holder", "hat rack", "coat hanger", "umbrella stand"]
BEDROOM = ["into:wardrobe", "into:chest of drawers", "bed", "nightstand", "writing desk",
           "into:bedroom cabinet"]  # fmt: skip


def played(house: ToyHouse, *, steps: int = 20) -> GameResult:
    player = TidyPlayer(PlayerContext(game="toy", max_steps=steps))
    world = World({Act: house, Embed: EmbedHandler(NgramEmbedder())})
    return run(play_game("toy", player, max_steps=steps), world)


def puts(house: ToyHouse) -> list[str]:
    return [c for c in house.given if c.startswith(("put ", "insert "))]


def test_one_room_is_tidied_without_a_wasted_command() -> None:
    house = ToyHouse(
        {"Kitchen": KITCHEN},
        {"milk": "counter", "dirty fork": "held", "apple core": "dining table", "sugar": "Kitchen"},
        {"milk": {"fridge"}, "dirty fork": {"dishwasher"}, "apple core": {"trash can"},
         "sugar": {"kitchen cupboard"}},
    )  # fmt: skip
    result = played(house)
    assert result.won and len(result.steps) == 7


def test_things_of_both_rooms_cross_with_one_return() -> None:
    house = ToyHouse(
        {"Laundry Room": LAUNDRY, "Corridor": CORRIDOR},
        {"white cap": "bench", "dirty dress": "held", "wet shirt": "work table",
         "dirty cardigan": "shoe cabinet", "running shoes": "Laundry Room",
         "dirty socks": "Corridor"},
        {"white cap": {"hat rack"}, "dirty dress": {"washing machine", "laundry basket"},
         "wet shirt": {"clothes drier"}, "dirty cardigan": {"washing machine"},
         "running shoes": {"shoe cabinet"}, "dirty socks": {"washing machine"}},
        ways=[("Laundry Room", "east", "Corridor")],
    )  # fmt: skip
    result = played(house)
    # 5 are taken, 6 put, and there and back again.
    assert result.won and len(result.steps) == 13


def test_the_same_wrong_place_is_never_tried_twice() -> None:
    house = ToyHouse(
        {"Bedroom": BEDROOM},
        {"clean white socks": "bed"},
        {"clean white socks": {"writing desk"}},
    )
    result = played(house, steps=40)
    assert result.won
    assert len(puts(house)) == len(set(puts(house)))


def test_what_one_thing_taught_holds_for_others_like_it() -> None:
    house = ToyHouse(
        {"Bedroom": BEDROOM},
        {f"{colour} socks": "held" for colour in ("red", "blue", "green")},
        {f"{colour} socks": {"bedroom cabinet"} for colour in ("red", "blue", "green")},
    )
    result = played(house, steps=40)
    assert result.won
    first = next(i for i, c in enumerate(puts(house)) if "bedroom cabinet" in c)
    assert all("bedroom cabinet" in command for command in puts(house)[first:])


def test_when_every_place_was_refused_it_gives_up_with_a_reason() -> None:
    house = ToyHouse({"Bedroom": BEDROOM}, {"tie": "bed"}, {"tie": {"the moon"}})
    result = played(house, steps=60)
    assert result.gave_up and not result.won
    assert len(puts(house)) == len(BEDROOM)


def test_too_few_steps_are_no_reason_to_give_up() -> None:
    house = ToyHouse({"Bedroom": BEDROOM}, {"clean tie": "bed"}, {"clean tie": {"wardrobe"}})
    result = played(house, steps=1)
    assert result.timed_out and len(result.steps) == 1


def test_closed_doors_and_receptacles_are_opened_only_when_needed() -> None:
    house = ToyHouse(
        {"Corridor": CORRIDOR, "Kitchen": KITCHEN},
        {"cheese": "Corridor", "keys": "held"},
        {"cheese": {"fridge"}, "keys": {"key holder"}},
        ways=[("Corridor", "north", "Kitchen")],
        shut={"oak door", "fridge", "kitchen cupboard", "shoe cabinet"},
        doors={"oak door": ("Corridor", "north")},
    )
    result = played(house)
    assert result.won
    assert [c for c in house.given if c.startswith("open ")] == ["open oak door", "open fridge"]


def test_things_in_closed_receptacles_are_found_when_nothing_else_is_left() -> None:
    house = ToyHouse(
        {"Kitchen": KITCHEN},
        {"dirty plate": "fridge"},
        {"dirty plate": {"dishwasher"}},
        shut={"fridge"},
    )
    assert played(house).won


def test_a_limit_of_what_can_be_carried_is_found_out_and_kept() -> None:
    house = ToyHouse(
        {"Corridor": CORRIDOR, "Kitchen": KITCHEN},
        {"cheese": "Corridor", "milk": "hat rack", "butter": "key holder"},
        {"cheese": {"fridge"}, "milk": {"fridge"}, "butter": {"fridge"}},
        ways=[("Corridor", "north", "Kitchen")],
        most=1,
    )
    result = played(house, steps=40)
    assert result.won
    refused = [a for a, b in zip(house.given, house.given[1:], strict=False)
               if a.startswith("take ") and b.startswith("take ")]  # fmt: skip
    assert len(refused) <= 1


def test_the_new_objects_of_the_thesis() -> None:
    """Thesis §3.5.1: kitchen and bedroom, seven things, twenty steps (GPT-4: 6 of 7)."""
    right = {
        "used noodle cup": "garbage can", "chili oil": "kitchen pantry",
        "computer monitor": "writing desk", "bag of cookies": "kitchen pantry",
        "family photo": "bedroom cabinet", "game software": "writing desk",
        "apple core": "garbage can",
    }  # fmt: skip
    house = ToyHouse(
        {"Bedroom": ["bed", "writing desk", "into:bedroom cabinet", "nightstand", "into:wardrobe"],
         "Kitchen": ["into:kitchen pantry", "into:garbage can", "into:fridge", "stove",
                     "dining table", "dining chair"]},
        {"used noodle cup": "writing desk", "chili oil": "bed", "computer monitor": "dining table",
         "bag of cookies": "Bedroom", "family photo": "stove", "game software": "Kitchen",
         "apple core": "nightstand"},
        {thing: {place} for thing, place in right.items()},
        ways=[("Bedroom", "east", "Kitchen")],
    )  # fmt: skip
    result = played(house)
    assert result.score == 7


def test_a_name_of_which_nothing_is_known_is_put_somewhere_by_meaning() -> None:
    house = ToyHouse(
        {"Kitchen": KITCHEN}, {"flurble": "counter"}, {"flurble": {"kitchen cupboard"}}
    )
    assert played(house, steps=40).won


def twenty_rooms() -> ToyHouse:
    rooms = {f"Room {i}": CORRIDOR if i % 3 else [f"shelf {i}", f"table {i}"] for i in range(20)}
    rooms = {room: [f"{r} {room[5:]}" for r in each] for room, each in rooms.items()}
    return ToyHouse(
        rooms,
        {f"red cup {i}": f"Room {i}" for i in range(20)},
        {f"red cup {i}": {"nowhere"} for i in range(20)},
        ways=[(f"Room {i}", "east", f"Room {i + 1}") for i in range(19)],
    )


@pytest.mark.parametrize(
    ("text", "tidying"),
    [
        (INTRO + "-= Kitchen =-\nThere is a cookbook on the table.", True),
        ("Look for anything that is out of place and put it away in its proper location.", True),
        ("Put every thing where it belongs.", True),
        ("You are hungry! Let's cook a delicious meal. Check the cookbook in the kitchen.", False),
        ("", False),
    ],
)
def test_the_family_is_told_by_what_is_to_be_done(text: str, tidying: bool) -> None:
    assert is_tidying(text) is tidying


def test_the_planner_becomes_the_player_that_the_game_calls_for() -> None:
    house = ToyHouse({"Kitchen": KITCHEN}, {"milk": "held"}, {"milk": {"fridge"}})
    player = build().new(PlayerContext(game="toy", max_steps=20))
    assert run(play_game("toy", player, max_steps=20), World({Act: house})).won
    assert not isinstance(player, CookingPlanner)


def test_the_planner_gives_up_at_once_where_the_first_text_is_of_neither_family() -> None:
    text = "Find the old key and open the chest.\n-= Vault =-\nA vault."
    first = View(room="Vault", feedback=text, candidates=("go east",), steps_left=20)
    for view, gives_up in ((first, True), (first.model_copy(update={"steps_left": 9}), False)):
        player = build().new(PlayerContext(game="toy", max_steps=20))
        assert (play(player.decide(view), []).result.action == "") is gives_up


def test_milk_on_the_patio_is_carried_to_the_fridge_that_nobody_has_seen() -> None:
    house = ToyHouse(
        {"Backyard": ["BBQ", "clothesline", "patio table", "patio chair"], "Kitchen": KITCHEN},
        {"milk": "held", "wet jumper": "patio chair"},
        {"milk": {"fridge"}, "wet jumper": {"clothesline"}},
        ways=[("Backyard", "west", "Kitchen")],
    )
    result = played(house)
    assert result.won and len(result.steps) == 4


def test_twenty_rooms_are_tidied_on_to_the_last_step() -> None:
    assert len(played(twenty_rooms(), steps=60).steps) == 60
