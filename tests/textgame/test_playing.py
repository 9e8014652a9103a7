"""A person plays, or looks on, in a terminal that is none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from commandline import Done, Naisei
from naisei.core import Flow, World
from naisei.textgame.advice import Adviser
from naisei.textgame.schemas import Decision, View
from naisei.textgame.texts import readable
from textgame.conftest import FakeSet


def play(naisei: Naisei, game: Path, lines: Sequence[str], *flags: str) -> Done:
    return naisei("textgame", "play", str(game), *flags, stdin="".join(f"{x}\n" for x in lines))


def test_numbers_words_and_advice_until_the_game_is_won(fake: FakeSet, naisei: Naisei) -> None:
    lines = ["?", "2", "", "99", "go  east", "dance", *["go east"] * 8]
    done = play(naisei, fake.folder / "g1.z8", ["look", *lines], "--agent", "random")
    assert done.code == 0, done.err
    assert "→ " in done.out, "advice was given"
    assert "Give a number from 1 to" in done.out
    assert "won: 5 of 5 points" in done.out
    commands = [command for _, _, command in fake.asked]
    assert commands[:2] == ["<start>", "look"]
    assert "dance" in commands, "any command goes to the game"
    assert commands.count("go east") + commands.count("go west") >= 5


@pytest.mark.parametrize("lines", [["q"], []])
def test_one_can_leave_and_the_input_can_end(
    fake: FakeSet, naisei: Naisei, lines: list[str]
) -> None:
    done = play(naisei, fake.folder / "g1.z8", ["go east", *lines], "--agent", "random")
    assert done.code == 0, done.err
    assert "1 of 5 points in 1 steps" in done.out
    assert "*    Room 1    *" in done.out, "the map shows where one is"


def test_looking_on_needs_no_input(fake: FakeSet, naisei: Naisei) -> None:
    done = play(
        naisei, fake.folder / "g1.z8", [], "--agent", "random", "--watch", "--max-steps", "7"
    )
    assert done.code == 0, done.err
    assert done.out.count("→ ") == len(fake.asked) - 1 <= 7


def test_what_cannot_be_played_is_one_message(fake: FakeSet, naisei: Naisei) -> None:
    (fake.folder / "bad.z8").write_text("nothing")
    for game, says in {
        fake.folder: "7 games here",
        fake.folder / "none.z8": "no games",
        fake.folder / "bad.z8": "no Z-machine story",
    }.items():
        done = play(naisei, game, [])
        assert done.code == 2 and says in done.err, done
        assert "Traceback" not in done.err


class Counting:
    """Says its number and how often it was asked. follows: whether it can be corrected."""

    made = 0

    def __init__(self) -> None:
        Counting.made += 1
        self.asked: list[View] = []

    def decide(self, view: View) -> Flow[Decision]:
        self.asked.append(view)
        return Decision(action="go east")
        yield


class Corrected(Counting):
    told: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.told = []

    def did(self, action: str) -> bool:
        self.told.append(action)
        return True


def view(feedback: str) -> View:
    return View(room="Hall", feedback=feedback, candidates=("go east", "look"))


def advised(adviser: Adviser, acts: Sequence[str]) -> None:
    async def go() -> None:
        world = World({})
        for number, action in enumerate(acts):
            await adviser.see(view(f"step {number}"), world)
            await adviser.advise(view(f"step {number}"), world)
            await adviser.advise(view(f"step {number}"), world)
            adviser.acted(action)

    asyncio.run(go())


def test_an_adviser_is_asked_once_a_step_and_stays_while_it_is_obeyed() -> None:
    Counting.made = 0
    kept: list[Counting] = []
    adviser = Adviser(lambda: kept.append(Counting()) or kept[-1], "opening", cheap=True)  # type: ignore[func-returns-value]
    advised(adviser, ["go east", "go east", "look", "go east"])
    assert Counting.made == 2, "afresh after another command"
    assert [v.feedback for v in kept[0].asked] == ["opening", "step 1", "step 2"]
    assert [v.feedback for v in kept[1].asked] == ["opening"], "with what the game is about"


def test_an_adviser_that_follows_is_told() -> None:
    kept: list[Corrected] = []
    adviser = Adviser(lambda: kept.append(Corrected()) or kept[-1], "opening", cheap=True)  # type: ignore[func-returns-value]
    advised(adviser, ["go east", "look", "go east"])
    assert len(kept) == 1 and kept[0].told == ["look"]


def test_an_adviser_that_costs_is_asked_only_on_demand() -> None:
    kept: list[Counting] = []
    adviser = Adviser(lambda: kept.append(Counting()) or kept[-1], "opening", cheap=False)  # type: ignore[func-returns-value]

    async def go() -> None:
        for number in range(3):
            await adviser.see(view(f"step {number}"), World({}))
            adviser.acted("look")

    asyncio.run(go())
    assert not kept


def test_texts_without_banner_and_prompt() -> None:
    banner = "________  ____\n     |   $$    \\   >$$ |\n\n\n"
    banner += "Welcome!\n\n\n\n-= Hall =-\nA hall.\n\n>    -= Hall =-0/1"
    assert readable(banner) == "Welcome!\n\n-= Hall =-\nA hall."
    assert readable("Done.\n\n      " + 9 * " " + "*** The End ***\n\n  salt") == (
        "Done.\n\n*** The End ***\n\n  salt"
    )
    assert readable("You eat the meal.\n\nWould you like to RESTART, QUIT?") == "You eat the meal."
    assert readable("") == ""


def test_a_game_asks_nothing_of_a_real_terminal(fake: FakeSet) -> None:
    from naisei.textgame.drawing import Atlas
    from naisei.textgame.stage import Stage

    console = Console(file=StringIO(), width=60)
    atlas = Atlas()
    atlas.begin("[red]Hall[/red]")
    Stage(console).show(view("[bold]text[/bold]"), atlas, 0, 20)
    assert isinstance(console.file, StringIO)
    assert "[bold]text[/bold]" in console.file.getvalue(), "texts of games are no markup"
