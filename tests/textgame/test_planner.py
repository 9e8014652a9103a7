"""The planner wins whatever cooking game can be won, and never does what cannot be undone."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from naisei.core import Act, World, run
from naisei.textgame.flow import play_game
from naisei.textgame.planner.explore import Prior
from naisei.textgame.planner.kind import CookingPlanner
from naisei.textgame.schemas import GameResult
from textgame.toy_kitchen import ToyKitchen

FOODS = ("carrot", "red onion", "block of cheese", "egg", "yellow potato", "red hot pepper")
NAMES = ("Hall", "Pantry", "Garden", "Shed", "Street", "Bath", "Attic", "Cellar", "Porch", "Den")
BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
STEP = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}


def kitchen(seed: int) -> ToyKitchen:
    """A house, a recipe and a capacity drawn by the seed."""
    r = Random(seed)
    rooms = {(0, 0): "Kitchen"}
    for name in r.sample(NAMES, r.randint(0, len(NAMES))):
        x, y = r.choice(sorted(rooms))
        dx, dy = r.choice(sorted(STEP.values()))
        rooms.setdefault((x + dx, y + dy), name)
    doors = {}
    for number, ((x, y), way) in enumerate(
        (at, d) for at in sorted(rooms) for d in ("north", "east")
    ):
        beyond = (x + STEP[way][0], y + STEP[way][1])
        if beyond in rooms and r.random() < 0.4:
            doors[(x, y), way] = doors[beyond, BACK[way]] = f"plain door {number}"
    places = sorted(rooms)
    needed = r.sample(FOODS, r.randint(1, 5))
    needs, states = {}, {}
    for food in needed:
        want = (r.choice(["", "sliced", "diced", "chopped"]), r.choice(["", "fried", "grilled"]))
        needs[food] = want
        states[food] = (
            want[0] if r.random() < 0.3 else "",
            want[1] if r.random() < 0.3 else "",
        )
    hands = r.choice([99, max(len(needed), 2)])
    things: dict[str, tuple[int, int] | str] = {"knife": (0, 0)}
    for food in FOODS:
        held = [t for t, at in things.items() if at == "held"]
        start_held = r.random() < 0.3 and len(held) < hands
        things[food] = "held" if start_held else r.choice(places)
    containers = {"fridge": (0, 0), "trunk": r.choice(places)}
    inside = {
        t: r.choice(boxes)
        for t, at in things.items()
        if at != "held" and (boxes := [c for c, p in containers.items() if p == at])
        and r.random() < 0.5
    }  # fmt: skip
    return ToyKitchen(
        rooms=rooms,
        doors=doors,
        things=things,
        inside=inside,
        containers=containers,
        appliances={"stove": (0, 0), "oven": (0, 0), "BBQ": r.choice(places)},
        needs=needs,
        states=states,
        hands=hands,
        here=r.choice(places),
        kitchen=(0, 0),
    )


def play(game: ToyKitchen, steps: int = 400) -> GameResult:
    return run(play_game("toy", CookingPlanner(Prior()), max_steps=steps), World({Act: game}))


@given(st.integers(0, 10**9))
def test_wins_every_game_that_can_be_won(seed: int) -> None:
    result = play(kitchen(seed))
    assert result.won, (seed, result.gave_up, [s.action for s in result.steps][-6:])


def test_without_a_cookbook_it_searches_everywhere_then_gives_up() -> None:
    game = kitchen(5)
    game.kitchen = (99, 99)
    result = play(game)
    assert not result.won
    assert not result.lost
    assert "cookbook" in result.gave_up
    assert not result.timed_out


def test_what_is_spoilt_is_said_and_nothing_more_is_done() -> None:
    game = kitchen(7)
    food = next(iter(game.needs))
    game.things[food], game.inside = "held", {}
    game.states[food] = ("", "burned")
    result = play(game)
    assert food in result.gave_up


def two_hundred_rooms(side: int = 15) -> ToyKitchen:
    game = kitchen(3)
    rooms = {(x, y): f"Room {x} {y}" for x in range(side) for y in range(side)}
    game.rooms, game.doors = {**rooms, (0, 0): "Kitchen"}, {}
    game.here = (side - 1, side - 1)
    game.things = {t: ("held" if at == "held" else (side // 2, 0)) for t, at in game.things.items()}
    game.things["knife"], game.inside = (0, 0), {}
    return game


def test_two_hundred_rooms() -> None:
    assert play(two_hundred_rooms(), steps=2000).won
