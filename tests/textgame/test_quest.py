"""What a game's first words ask for, and a hunt through locked doors, by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError, play
from naisei.textgame.engine import ProcessPool, playable
from naisei.textgame.engine.express import read_express
from naisei.textgame.grammar import Reads, grammars
from naisei.textgame.planner.kind import build, is_quest
from naisei.textgame.player import PlayerContext
from naisei.textgame.quest.kind import QuestPlayer
from naisei.textgame.quest.steps import doing, read_steps
from naisei.textgame.schemas import View

WELCOME = "I hope you're ready to go into rooms and put things in places: it is TextWorld! "


@pytest.mark.parametrize(
    ("said", "verbs"),
    [
        ("Make sure that the wooden door in the den is unlocked with the key.", "unlock"),
        ("First of all, you could, like, recover the mug from the floor of the den.", "take"),
        ("After opening the wooden door, take a trip north.", "go"),
        ("If you can get your hands on the mug, rest the mug on the shelf.", "put"),
        ("From in the closed box, take the mug and put it into the bin.", "take insert"),
        ("Take the key and use it to unlock the chest.", "take unlock"),
        ("Doublecheck that the screen door is wide open, then close it.", "open close"),
        ("The supper is almost ready! It's only missing a grilled carrot.", "take put"),
        ("You take the mug from the shelf.", ""),
        ("That's it!", ""),
    ],
)
def test_steps_are_read_from_the_first_words(said: str, verbs: str) -> None:
    steps = read_steps(f"{WELCOME}{said}\n\n-= Den =-\nYou take a look at the box.")
    assert " ".join(step.verb for step in steps) == verbs


def test_a_step_is_done_by_the_command_of_the_thing_itself() -> None:
    (step,) = read_steps("Take the type Z key from the box.\n\n-= Den =-")
    assert doing(step, ["take key from box", "take type Z key from box"]) == (
        "take type Z key from box"
    )
    assert doing(step, ["take key from box", "open box"]) is None


def test_the_planner_tells_a_quest_from_cooking() -> None:
    assert is_quest("Pick up the mug in the cookhouse!\n\n-= Hall =-\nA hall.")
    assert is_quest("-= Hall =-\nA hall."), "nothing is said: whatever can be done"
    assert not is_quest("You are hungry! Check the cookbook, take a seat.\n\n-= Hall =-\nA hall.")


class Hunt:
    """A key in a box in the hall, a locked door to the vault, and a mug behind it."""

    def __init__(self) -> None:
        self.room, self.box, self.door = "Hall", "closed", "locked"
        self.held: list[str] = []

    def view(self, said: str = "") -> View:
        if self.room == "Vault":
            text = f"-= Vault =-\nA vault. There is an {self.door} gate leading west."
            can = ["go west", "examine gate", "close gate"]
            can += ["take mug"] if "mug" not in self.held else []
        else:
            text = f"-= Hall =-\nA hall with a {self.box} box. There is a {self.door} gate"
            text += " leading east."
            can = ["examine box", "examine gate"]
            can += ["open box"] if self.box == "closed" else ["close box"]
            if self.box == "open" and "key" not in self.held:
                can.append("take key from box")
            if self.door == "locked" and "key" in self.held:
                can.append("unlock gate with key")
            can += {"closed": ["open gate"], "open": ["close gate", "go east"]}.get(self.door, [])
        carrying = ", ".join(f"a {thing}" for thing in self.held) or "nothing"
        return View(
            room=self.room,
            description=text,
            inventory=f"You are carrying: {carrying}.",
            candidates=tuple(sorted(can)),
            feedback=said or text,
        )

    def step(self, command: str) -> View:
        assert command in self.view().candidates, command
        match command.split():
            case ["open", "box"]:
                self.box = "open"
            case ["take", thing, *_]:
                self.held.append(thing)
            case ["unlock", *_]:
                self.door = "closed"
            case ["open", "gate"]:
                self.door = "open"
            case ["go", way]:
                self.room = "Vault" if way == "east" else "Hall"
        return self.view()


def test_it_finds_the_key_and_what_lies_behind_the_door() -> None:
    game, player = Hunt(), QuestPlayer()
    view, given = game.view(f"Recover the mug.\n\n{game.view().description}"), []
    while "mug" not in game.held:
        given.append(play(player.decide(view), []).result.action)
        view = game.step(given[-1])
    assert given == [
        *("open box", "take key from box", "unlock gate with key", "open gate"),
        *("go east", "take mug"),
    ]


ROOM = """You are in the kitchen. There is also an oven. You also see a barbeque.
To the North you see a closed wood door. Through an open wood door, to the East you see the hall."""
SEEN = View(
    description=ROOM,
    inventory="Inventory (maximum capacity is 5 items): \n  a knife\n  a raw egg\n",
    candidates=(
        *("look around", "move north", "move east", "open door to north", "open door to east"),
        *("close door to north", "cook egg in barbeque", "dice egg", "put egg in counter"),
        *("read cookbook", "take leek"),
    ),
)


def test_another_engine_is_read_in_the_players_words() -> None:
    (grammar,) = grammars()
    told, given = grammar.view(SEEN)
    assert told.candidates == (
        *("look", "go east", "open door to north", "cook egg with BBQ", "dice egg with knife"),
        *("put egg on counter", "read cookbook", "take leek"),
    )
    assert told.description.startswith("-= kitchen =-") and "BBQ" in told.description
    assert "There is a closed door to North leading North." in told.description
    assert grammar.command("go east", given) == "move east"
    assert grammar.command("drop egg", given) == "put egg in counter"
    assert grammar.command("take leek from shelf", given) == "take leek"
    assert grammar.command("eat meal", given) == "eat meal"


def test_a_player_speaks_the_engines_words() -> None:
    player = Reads(QuestPlayer)
    first = SEEN.model_copy(update={"feedback": f"Find the coin. Take it.\n\n{ROOM}"})
    assert play(player.decide(first), []).result.action == "move east"
    assert player.did("open door to north")


@pytest.mark.parametrize("text", ["", "[]", '{"game": "doom", "seed": 1}', '{"game": "coin"}'])
def test_a_file_that_names_no_game_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.twx").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="names no game"):
        read_express(tmp_path / "x.twx")


def test_games_of_another_engine_are_chosen(tmp_path: Path, naisei: Naisei) -> None:
    asked = ["textgame", "make", "express", "--game", "coin", "--n", "3", "--out", tmp_path]
    assert naisei(*asked).code == 0
    games = [json.loads(file.read_text("utf-8")) for file in sorted(tmp_path.glob("*.twx"))]
    assert [game["fold"] for game in games] == ["test"] * 3
    assert all(20_000 <= game["seed"] < 21_000 for game in games)
    assert naisei(*asked, "--params", "doors").code == 2


@pytest.mark.slow
def test_the_planner_wins_games_of_another_engine(tmp_path: Path) -> None:
    pytest.importorskip("textworld_express")
    if not shutil.which("java"):
        pytest.skip("there is no Java")
    pool = ProcessPool()
    process = pool.borrow()
    for game, seed in (("cookingworld", 10_001), ("coin", 10_001), ("mapreader", 10_001)):
        file = tmp_path / f"{game}.twx"
        file.write_text(json.dumps({"game": game, "fold": "dev", "seed": seed}), encoding="utf-8")
        view, player = process.open(playable(file, pool)), build().new(PlayerContext(game=game))
        for _ in range(100):
            if view.done:
                break
            view = process.step(play(player.decide(view), []).result.action)
        assert view.won and view.score == view.max_score == 100, game
    process.close()
