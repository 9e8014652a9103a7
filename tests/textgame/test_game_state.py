"""The map: growth, circles, doors, routes."""

import pytest

from naisei.textgame.game_state import WorldMap
from naisei.textgame.schemas import View
from naisei.textgame.texts import read_scene


def room(name: str, *exits: str, text: str = "", can: tuple[str, ...] = ()) -> View:
    return View(room=name, description=text, candidates=(*(f"go {e}" for e in exits), *can))


def walk(world: WorldMap, *steps: tuple[str, View]) -> None:
    for came, view in steps:
        world.arrive(read_scene(view), came)


def test_routes_over_what_was_walked() -> None:
    world = WorldMap()
    walk(
        world,
        ("", room("Hall", "north")),
        ("north", room("Kitchen", "south", "east")),
        ("east", room("Garden", "west")),
    )
    assert world.route(0) == ["west", "south"]
    assert world.route(2, start=0) == ["north", "east"]
    assert world.distances(0) == {0: 0, 1: 1, 2: 2}
    assert world.frontier() == []


def test_a_closed_door_costs_its_opening_and_is_a_way_not_gone() -> None:
    world = WorldMap()
    text = "There is a closed plain door leading east."
    walk(world, ("", room("Kitchen", text=text, can=("open plain door",))))
    assert world.frontier() == [(0, "east")]
    assert world.place.shut == {"east"}
    walk(world, ("", room("Kitchen", "east", text=text.replace("closed", "open"))))
    assert world.place.shut == set()


def test_a_circle_of_rooms_closes() -> None:
    world = WorldMap()
    walk(
        world,
        ("", room("A", "east", "south")),
        ("east", room("B", "west", "south")),
        ("south", room("C", "north", "west")),
        ("west", room("D", "east", "north")),
        ("north", room("A", "east", "south")),
    )
    assert len(world.places) == 4
    assert world.here == 0
    assert world.route(3) == ["south"]


def test_two_rooms_of_one_name_are_two_places() -> None:
    world = WorldMap()
    walk(
        world,
        ("", room("Corridor", "east")),
        ("east", room("Corridor", "west", "east")),
        ("east", room("Corridor", "west")),
    )
    assert [place.room for place in world.places] == ["Corridor"] * 3
    assert world.route(0) == ["west", "west"]


def test_things_are_remembered_and_forgotten_when_gone() -> None:
    world = WorldMap()
    walk(world, ("", room("Kitchen", "east", can=("take egg from fridge", "examine fridge"))))
    assert world.place.things == {"egg": "fridge"}
    walk(world, ("", room("Kitchen", "east", can=("examine fridge",))))
    assert world.place.things == {}


@pytest.mark.parametrize("names", [1, 196])
def test_a_grid_of_rooms_that_share_names_is_told_apart_by_where_they_lie(names: int) -> None:
    side = 14
    world = WorldMap()
    at = (0, 0)

    def view() -> View:
        ways = {"east": at[0] + 1 < side, "west": at[0] > 0, "north": at[1] + 1 < side}
        ways["south"] = at[1] > 0
        name = f"Room {(at[0] * 31 + at[1] * 17) % names}"
        return room(name, *(way for way, there in ways.items() if there))

    world.arrive(read_scene(view()))
    for row in range(side):
        way = "east" if row % 2 == 0 else "west"
        for step in [way] * (side - 1) + (["north"] if row + 1 < side else []):
            by = {"east": (1, 0), "west": (-1, 0), "north": (0, 1)}[step]
            at = (at[0] + by[0], at[1] + by[1])
            world.arrive(read_scene(view()), step)
    assert len(world.places) == side * side
    assert world.route(0) is not None


def test_a_house_that_fits_no_squared_paper_closes_its_circles_by_name() -> None:
    world = WorldMap()
    walk(
        world,
        ("", room("A", "east", "west")),
        ("east", room("B", "west", "north")),
        ("north", room("C", "south", "north")),
        ("north", room("D", "south", "west")),
        ("west", room("E", "east", "south")),
        ("south", room("F", "north", "south")),
        ("south", room("G", "north", "west")),  # at the spot of A
        ("west", room("A", "east", "west")),
    )
    assert world.places[world.here].room == "A"
