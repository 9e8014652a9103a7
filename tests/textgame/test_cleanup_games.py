"""Games of tidying up: the list they are made of, the houses drawn from it, and the real games."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.textgame.games import find_games, walkthrough, walkthrough_lengths
from naisei.textgame.make import CookingOptions, make_cooking
from naisei.textgame.make.cleanup import (
    FLOOR,
    HELD,
    LEVELS,
    Mess,
    file_name,
    furniture,
    mess_of,
    solution,
    things,
)
from naisei.textgame.make.cooking import SPLITS


def test_the_list_is_large_and_its_splits_have_nothing_in_common() -> None:
    assert sum(len(things(split)) for split in SPLITS) >= 150
    assert len(furniture()) >= 40
    for one, other in combinations(SPLITS, 2):
        assert not {t.name for t in things(one)} & {t.name for t in things(other)}


def test_everything_belongs_on_furniture_that_there_is() -> None:
    for split in SPLITS:
        for thing in things(split):
            for places in thing.places.values():
                assert places and set(places) <= set(furniture()), thing


def test_names_are_unambiguous_for_the_parser() -> None:
    names = [t.name for split in SPLITS for t in things(split)] + list(furniture())
    assert not [name for name, n in Counter(names).items() if n > 1]
    assert not [n for n in names if {"in", "on", "into", "from", "with", "and"} & set(n.split())]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("level", LEVELS)
def test_every_house_is_of_its_level_and_can_be_tidied(split, level) -> None:  # type: ignore[no-untyped-def]
    for number in range(60):
        mess = mess_of(split, level, rooms=None, seed=3, number=number)
        counts, usual = LEVELS[level]
        assert len(mess.strays) in counts and len(mess.rooms) in usual
        assert played(mess, solution(mess)) == len(mess.strays)
        assert mess == mess_of(split, level, rooms=None, seed=3, number=number)


@pytest.mark.parametrize("many", [1, 2, 5, 12])
def test_houses_of_any_number_of_rooms_hang_together(many: int) -> None:
    for number in range(20):
        mess = mess_of("test", "hard", rooms=many, seed=1, number=number)
        assert len(mess.rooms) == many == len(set(mess.rooms))
        assert len(mess.links) == many - 1
        assert played(mess, solution(mess)) == len(mess.strays)


def test_more_rooms_or_splits_than_there_are_are_errors() -> None:
    with pytest.raises(InputError, match="12 rooms"):
        mess_of("test", "hard", rooms=13, seed=0, number=0)
    with pytest.raises(InputError, match="dev"):
        make_cooking(CookingOptions(split="dev", out=Path("out"), n=1, processes=1))


def test_nothing_lies_where_it_would_belong() -> None:
    for number in range(100):
        mess = mess_of("train", "hard", rooms=2, seed=0, number=number)
        for stray in mess.strays:
            assert stray.goals and stray.start not in stray.goals
            assert (stray.start == HELD) == (stray.at == "")


def test_file_names_tell_the_family_and_the_level(tmp_path: Path) -> None:
    mess = mess_of("test", "hard", rooms=2, seed=0, number=4)
    name = file_name(mess, "test", "hard", seed=0, number=4)
    assert name.startswith("tw-cleanup-test-hard-objects") and name.endswith("-rooms2-0.4.z8")
    (tmp_path / name).touch()
    assert find_games(str(tmp_path))[0].family == "cleanup"
    assert find_games(str(tmp_path))[0].default_steps == 20


def played(mess: Mess, commands: tuple[str, ...]) -> int:
    """Points of a list of commands, by the rules of the games; every command must be possible."""
    ways = {(link.room, link.side): link.other for link in mess.links}
    back = {"north": "south", "south": "north", "east": "west", "west": "east"}
    ways |= {(link.other, back[link.side]): link.room for link in mess.links}
    room_of = {f.name: f.room for f in mess.furniture}
    open_ = {f.name: f.open for f in mess.furniture}
    by_name = {s.name: s for s in mess.strays}
    assert len(by_name) == len(mess.strays)
    held = {s.name for s in mess.strays if s.start == HELD}
    here, points = mess.rooms[0], 0
    for command in commands:
        verb, _, rest = command.partition(" ")
        if verb == "go":
            here = ways[here, rest]
        elif verb == "take":
            name, _, start = rest.partition(" from ")
            stray = by_name[name]
            assert stray.at == here and stray.start == (start or FLOOR)
            held.add(name)
        else:
            name, _, place = rest.partition(" into " if verb == "insert" else " on ")
            assert name in held and room_of[place] == here and open_[place] == (verb == "insert")
            held.remove(name)
            points += place in by_name[name].goals
    return points


@pytest.mark.slow
def test_the_real_game_is_won_by_its_walkthrough(needs_engine: None, cleanup_game: Path) -> None:
    from naisei.textgame.engine import ProcessPool, playable
    from naisei.textgame.engine.process import GameProcess

    commands = walkthrough(cleanup_game)
    assert commands
    process = GameProcess()
    view = process.open(playable(cleanup_game, ProcessPool()))
    most = view.max_score
    for command in commands:
        assert not view.done
        assert command in view.candidates
        view = process.step(command)
    process.close()
    assert view.won and view.done and view.score == most and most in (6, 7)


def test_the_real_game_reads_like_those_of_twc(needs_engine: None, cleanup_game: Path) -> None:
    from naisei.textgame.engine import ProcessPool, playable
    from naisei.textgame.engine.process import GameProcess

    process = GameProcess()
    view = process.open(playable(cleanup_game, ProcessPool()))
    assert view.description.startswith(f"-= {view.room} =-")
    assert view.inventory.startswith("You are carrying")
    assert any(c.startswith("go ") for c in view.candidates)
    world = json.loads(cleanup_game.with_suffix(".json").read_text())
    goals = world["metadata"]["goal_locations"]
    assert len(goals) == view.max_score
    move = next(c for c in view.candidates if c.startswith("go "))
    seen = process.step(move)
    assert seen.room != view.room and seen.feedback.startswith("-= ")
    process.close()


def test_lengths_of_walkthroughs(tmp_path: Path) -> None:
    for name, metadata in {
        "with": {"walkthrough": ["look", "eat meal"]},
        "without": {},
        "empty": {"walkthrough": []},
    }.items():
        (tmp_path / f"{name}.z8").touch()
        (tmp_path / f"{name}.json").write_text(json.dumps({"metadata": metadata}))
    (tmp_path / "bare.z8").touch()
    assert walkthrough_lengths(find_games(str(tmp_path))) == {"with": 2}
