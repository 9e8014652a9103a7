"""Learning cooking rules from own play: what is read, what is credited, what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.core import Act, InputError, World, run
from naisei.textgame.flow import play_game
from naisei.textgame.games import Game
from naisei.textgame.player import PlayerContext
from naisei.textgame.schemas import View
from naisei_textgame_selftaught.curve import (
    Answers,
    Remembering,
    lessons,
    measured,
    order,
    play_frozen,
    snapshots,
    table,
)
from naisei_textgame_selftaught.game_state import LearningState
from naisei_textgame_selftaught.kind import SelfTaughtOptions, build
from naisei_textgame_selftaught.knowledge import (
    CURIOSITY,
    END,
    Beliefs,
    Knowledge,
    Roles,
    Tally,
    instrument,
    load,
    matching,
    read_assignment,
)
from textgame.toy_school import SchoolKitchen, school

BOOK = "Ingredients:\n  egg\n  red onion\n\nDirections:\n  zap the egg\n  fry the red onion\n  brew stew\n\nBon appetit the egg"  # noqa: E501


def games(numbers: range) -> list[Game]:
    return [Game(id=f"toy-{n}", path=Path(f"{n}.z8"), family="cooking") for n in numbers]


def toy(game: Game) -> SchoolKitchen:
    return school(int(game.id.partition("-")[2]))


@pytest.fixture(scope="module")
def learned() -> Knowledge:
    known = Knowledge(seed=1)
    for _ in lessons(games(range(60)), toy, known=known):
        pass
    return known


def test_directions_are_words_that_nobody_explains() -> None:
    read = read_assignment(BOOK)
    assert read is not None
    assert read.needs == ("egg", "red onion")
    assert read.directions == (("zap", "egg"), ("fry", "red onion"))
    assert read.closing == (("brew", "stew"),)
    assert read_assignment("Nothing special.") is None


def test_templates_keep_what_a_thing_is_done_with_and_forget_its_name() -> None:
    roles = Roles(("egg", "red onion"), ("stew",), {"egg", "knife", "apple"})
    assert roles.template("zap red onion with big stove") == (
        "zap NEEDED with big stove",
        "red onion",
    )
    assert roles.template("put egg on table") == ("put NEEDED on HOLDER", "egg")
    assert roles.template("eat stew") == ("eat DISH", "stew")
    assert roles.template("eat apple") == ("eat OTHER", "apple")
    assert roles.template("look") == ("look", "")
    assert instrument("zap NEEDED with big stove") == "big stove"
    can = ["zap egg with laser", "zap red onion with laser"]
    assert matching(roles, can, "zap NEEDED with laser", "red onion") == can[1]
    assert matching(roles, can, "zap NEEDED with laser", "apple") == ""


def test_what_is_held_is_read_from_the_inventory_not_from_what_can_be_dropped() -> None:
    # With a limit and one thing in hand, textworld lists no command to drop it.
    known = Knowledge()
    state = LearningState(known, Beliefs(known, draw=None, caution=True))
    view = View(
        room="Kitchen",
        inventory="You are carrying: a raw red potato.",
        candidates=("cook red potato with stove", "examine cookbook"),
    )
    state.see(view, "")
    assert state.held == {"red potato": frozenset({"raw"})}
    state.see(view.model_copy(update={"inventory": "You are carrying nothing."}), "look")
    assert state.held == {}


def test_what_is_in_sight_and_cannot_be_taken_tells_how_much_is_held_at_most() -> None:
    known = Knowledge()
    state = LearningState(known, Beliefs(known, draw=None, caution=True))
    view = View(
        room="Kitchen",
        inventory="You are carrying: an egg and a red onion.",
        candidates=("drop egg", "drop red onion", "examine knife"),
    )
    state.see(view, "")
    state.cannot_take("stove")  # not here: it says nothing of hands
    assert state.capacity is None
    state.cannot_take("knife")
    assert (state.capacity, state.hands) == (2, 2)


def test_nothing_of_cooking_is_known_at_the_start() -> None:
    known = Knowledge()
    assert not (known.rules or known.marks or known.offers or known.limits)
    assert not known.houses.lies
    beliefs = Beliefs(known, draw=None, caution=True)
    assert beliefs.worth("fry", "cook NEEDED with stove") == beliefs.worth("fry", "eat NEEDED")


def test_what_lost_is_worth_less_than_what_was_never_tried() -> None:
    known = Knowledge(rules={"fry": {"eat NEEDED": Tally(lost=1), "drop NEEDED": Tally(nothing=1)}})
    cautious = Beliefs(known, draw=None, caution=True)
    assert (
        cautious.worth("fry", "eat NEEDED")
        < cautious.worth("fry", "drop NEEDED")
        < cautious.worth("fry", "cook NEEDED with stove")
    )
    # What lost for one direction is doubted for every other, and only by the cautious.
    assert cautious.worth("roast", "eat NEEDED") < cautious.worth("roast", "put NEEDED on HOLDER")
    bold = Beliefs(known, draw=None, caution=False)
    assert bold.worth("roast", "eat NEEDED") == bold.worth("roast", "put NEEDED on HOLDER")
    assert bold.worth("fry", "eat NEEDED") == bold.worth("fry", "drop NEEDED")


def test_a_drawn_belief_changes_only_with_what_is_known() -> None:
    known = Knowledge()
    beliefs = Beliefs(known, draw="7", caution=True)
    first = beliefs.worth("fry", "t")
    assert beliefs.worth("fry", "t") == first
    known.tally("fry", "t").gained += 1
    assert beliefs.worth("fry", "t") != first


def test_it_learns_which_appliance_which_verb_and_how_a_game_ends(learned: Knowledge) -> None:
    beliefs = Beliefs(learned, draw=None, caution=True)
    truth = {
        "fry": "cook NEEDED with stove",
        "grill": "cook NEEDED with BBQ",
        "slice": "slice NEEDED with knife",
        "prepare": "prepare DISH",
        END: "eat DISH",
    }
    for goal, template in truth.items():
        rules = learned.rules[goal]
        assert max(rules, key=lambda t: beliefs.mean(goal, t)) == template
        assert beliefs.sure(goal, template)
    assert max(learned.marks["fry"], key=learned.marks["fry"].__getitem__) == "fried"
    knife, stove = (learned.offers[truth[g]] for g in ("slice", "fry"))
    assert knife.held == knife.times > 0
    assert stove.held == 0
    assert CURIOSITY in learned.rules


def test_what_was_learned_wins_games_never_seen(learned: Knowledge) -> None:
    frozen = learned.text()
    results = [play_frozen(g, toy(g), learned) for g in games(range(5000, 5015))]
    assert sum(r.won for r in results) >= 14
    assert not any(r.lost for r in results)
    assert learned.text() == frozen
    novice = [play_frozen(g, toy(g), Knowledge()) for g in games(range(5000, 5005))]
    assert sum(r.won for r in novice) <= 1


def test_the_same_seed_learns_the_same_and_can_go_on_from_a_file(tmp_path: Path) -> None:
    def taught(known: Knowledge, many: int) -> Knowledge:
        for _ in lessons(games(range(many)), toy, known=known):
            pass
        return known

    at_once = taught(Knowledge(seed=3), 8)
    (tmp_path / "half.json").write_text(taught(Knowledge(seed=3), 4).text(), encoding="utf-8")
    assert taught(load(tmp_path / "half.json"), 8).text() == at_once.text()
    assert taught(Knowledge(seed=4), 8).text() != at_once.text()


def test_the_order_of_games_is_the_seeds() -> None:
    some = games(range(30))
    assert order(some, 1) == order(list(reversed(some)), 1)
    assert order(some, 1) != order(some, 2)
    assert sorted(g.id for g in order(some, 1)) == sorted(g.id for g in some)


def test_the_curve_counts_games_and_remembers_courses() -> None:
    answers_of: dict[str, Answers] = {}
    kept, points = games(range(900, 904)), []
    for known in snapshots(games(range(5)), toy, (0, 2, 5), known=Knowledge()):
        points += measured(known, kept, toy, answers_of)
    assert sorted({p.n for p in points}) == [0, 2, 5]
    assert len(points) == 12
    rows = table(points).rows
    assert [row[1] for row in rows] == [0, 2, 5]
    assert all(0 <= float(row[4]) <= float(row[3]) <= float(row[5]) <= 1 for row in rows)
    # Played again from memory, every game goes as it went.
    again = list(measured(Knowledge(), kept, toy, answers_of))
    assert again == [p for p in points if p.n == 0]


def test_a_remembered_course_asks_the_game_nothing() -> None:
    answers: Answers = {}
    game = games(range(1))[0]
    first = play_frozen(game, Remembering(toy(game), answers), Knowledge())

    class Mute(SchoolKitchen):
        def perform(self, effect: Act, where: object) -> object:  # type: ignore[override]
            raise AssertionError("it was asked")

        def restore(self, effect: Act, result: object, where: object) -> None:  # type: ignore[override]
            pass

    mute = Mute(**vars(school(0)))
    assert play_frozen(game, Remembering(mute, answers), Knowledge()) == first


def test_the_registered_kind_plays_frozen(learned: Knowledge, tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(learned.text(), encoding="utf-8")
    settings = SelfTaughtOptions(knowledge=str(file))
    player = build().new(PlayerContext(game="toy-1", settings=settings))
    assert run(play_game("toy-1", player, max_steps=200), World({Act: school(1)})).won
    assert file.read_text(encoding="utf-8") == learned.text()


@pytest.mark.parametrize("text", ["", "{", '{"version": 99}', '{"rules": 3}', '{"other": 1}'])
def test_a_file_that_is_no_knowledge_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "k.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"knowledge"):
        load(tmp_path / "k.json")


def test_without_a_cookbook_it_gives_up() -> None:
    game = school(5)
    game.kitchen = (99, 99)
    result = play_frozen(games(range(1))[0], game, Knowledge())
    assert result.gave_up
    assert not result.lost


@pytest.mark.slow
def test_caution_learns_from_fewer_games() -> None:
    kept = games(range(10000, 10020))
    won = {}
    for caution in (True, False):
        won[caution] = 0
        for seed in (0, 1, 2):
            known = Knowledge(seed=seed, caution=caution)
            for _ in lessons(games(range(50)), toy, known=known):
                pass
            won[caution] += sum(play_frozen(g, toy(g), known).won for g in kept)
    assert won[True] > 2 * won[False]
