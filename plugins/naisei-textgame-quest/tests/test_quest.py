"""What a game's first words ask for, and a hunt through locked doors, by hand."""

from __future__ import annotations

import pytest

from naisei.core import play
from naisei.textgame.player import PlayerContext, player_kind
from naisei.textgame.schemas import View
from naisei_textgame_quest.kind import QuestPlayer, is_quest
from naisei_textgame_quest.steps import doing, read_steps

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


def test_a_quest_is_told_from_cooking() -> None:
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


@pytest.mark.parametrize(
    ("first", "action"),
    [
        ("Recover the mug.", "open box"),
        ("You are hungry! Check the cookbook.", "open box"),
        ("The house is a mess, clean it up!", "go east"),
    ],
)
def test_by_its_name_it_plays_any_game(first: str, action: str) -> None:
    view = Hunt().view()
    player = player_kind("quest").new(PlayerContext(game="g"))
    told = view.model_copy(update={"feedback": f"{first}\n\n{view.description}"})
    assert play(player.decide(told), []).result.action == action
