"""A person plays, or looks on, in a terminal that is none."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from commandline import Done, Naisei
from naisei.core import AskUser, Flow, Handler, Say, World, run
from naisei.system.execute import RunOptions, execute
from naisei.textgame.config import PlayConfig
from naisei.textgame.play import REST, STEP, Person, Screen, Watched
from naisei.textgame.schemas import LEAVE, START, Decision, View
from naisei.textgame.system import PLAY
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
        fake.folder / "bad.z8": "Z-machine story",
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


def advised(person: Person, acts: Sequence[str]) -> list[str]:
    """Plays a step for each command, asking for advice before it; returns what was said."""
    heard: list[str] = []
    answers = iter([answer for act in acts for answer in ("?", "?", act)])
    world = World({AskUser: lambda asked: next(answers), Say: lambda line: heard.append(line.text)})
    for number, act in enumerate(acts):
        decided = run(person.decide(view("opening" if not number else f"step {number}")), world)
        assert decided.action == act
    return heard


def test_an_adviser_is_asked_once_a_step_and_stays_while_it_is_obeyed() -> None:
    Counting.made = 0
    kept: list[Counting] = []
    person = Person(lambda: kept.append(Counting()) or kept[-1], cheap=True)  # type: ignore[func-returns-value]
    assert advised(person, ["go east", "go east", "look", "go east"]) == 8 * ["go east"]
    assert Counting.made == 2, "afresh after another command"
    assert [v.feedback for v in kept[0].asked] == ["opening", "step 1", "step 2"]
    assert [v.feedback for v in kept[1].asked] == ["opening"], "with what the game is about"


def test_an_adviser_that_follows_is_told() -> None:
    kept: list[Corrected] = []
    person = Person(lambda: kept.append(Corrected()) or kept[-1], cheap=True)  # type: ignore[func-returns-value]
    advised(person, ["go east", "look", "go east"])
    assert len(kept) == 1 and kept[0].told == ["look"]


def test_an_adviser_that_costs_is_asked_only_on_demand() -> None:
    kept: list[Counting] = []
    person = Person(lambda: kept.append(Counting()) or kept[-1], cheap=False)  # type: ignore[func-returns-value]
    for number in range(3):
        assert run(person.decide(view(f"step {number}")), World({AskUser: lambda asked: "look"}))
    assert not kept


def test_who_watches_lets_it_go_on_or_leaves() -> None:
    answers = iter([STEP, REST])
    said: list[str] = []
    world = World({AskUser: lambda asked: next(answers), Say: lambda line: said.append(line.text)})
    watched = Watched(Counting(), pauses=True)
    for _ in range(4):
        assert run(watched.decide(view("")), world).action == "go east"
    assert said == 4 * ["go east"], "asked twice, and then no more"
    left = Watched(Counting(), pauses=True)
    leaves = World({AskUser: lambda asked: LEAVE, Say: lambda line: None})
    assert run(left.decide(view("")), leaves) == Decision(action="", thoughts=LEAVE)


def test_a_game_is_logged_and_goes_on_where_it_was_left(fake: FakeSet, naisei: Naisei) -> None:
    config = PlayConfig(game=str(fake.folder / "g1.z8"), agent="random")
    task = PLAY.load(config)
    given = ["look", "go east"]

    class Left(Exception):
        pass

    def ask(asked: AskUser) -> str:
        if not given:
            raise Left
        return given.pop(0)

    task.screen.ask = ask
    with pytest.raises(Left):
        execute(PLAY, config, RunOptions(quiet=True), run_dir=Path("r"), task=task)
    done = naisei("runs", "resume", "r", stdin="q\n")
    assert done.code == 0, done.err
    assert "left: 1 of 5 points in 2 steps" in done.out
    assert "*    Room 1    *" in done.out, "the map knows what was walked before"
    shown = naisei("runs", "show", "r", "--episode", "g1")
    assert "go east" in shown.out


def test_the_same_command_begins_anew_once_a_game_is_over(fake: FakeSet, naisei: Naisei) -> None:
    game = fake.folder / "g1.z8"
    for _ in range(2):
        done = play(naisei, game, ["go east", "q"], "--agent", "random")
        assert done.code == 0 and "left: 1 of 5 points in 1 steps" in done.out, done
    first, second = sorted(path.name for path in Path("runs").iterdir())
    assert second == f"{first}-2"


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
    console = Console(file=StringIO(), width=60)
    screen = Screen(20, console=console).of(Handler())
    seen = view("[bold]text[/bold]").model_copy(update={"room": "[red]Hall[/red]"})
    screen._note(START, seen.observation(0.0))
    assert screen.show() and not screen.show(), "once"
    assert isinstance(console.file, StringIO)
    assert "[bold]text[/bold]" in console.file.getvalue(), "texts of games are no markup"
