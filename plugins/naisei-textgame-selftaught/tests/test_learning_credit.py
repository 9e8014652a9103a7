"""Points that several directions may have brought: they wait until others tell them apart."""

from __future__ import annotations

import pytest

from naisei_textgame_selftaught.game_state import Progress
from naisei_textgame_selftaught.knowledge import Assignment, Beliefs, Credit, Knowledge, Tally

BOTH = Assignment(("egg",), (("dice", "egg"), ("fry", "egg")), (("prepare", "meal"),))
KNIFE, STOVE = "dice NEEDED with knife", "cook NEEDED with stove"
NONE: frozenset[str] = frozenset()


def progress(known: Knowledge) -> Progress:
    return Progress(BOTH, Beliefs(known, draw=None, caution=True))


def both_done(known: Knowledge) -> None:
    """An egg diced and fried, in a kitchen where nobody says which was which."""
    game = progress(known)
    game.point("egg", STOVE, NONE, frozenset({"fried"}))
    game.point("egg", KNIFE, frozenset({"fried"}), frozenset({"fried", "diced"}))


def test_a_point_for_either_direction_makes_no_rule_sure() -> None:
    known = Knowledge()
    for _ in range(30):
        both_done(known)
    beliefs = Beliefs(known, draw=None, caution=True)
    assert known.puzzles == {"dice|fry": {f"{STOVE}|{KNIFE}": 30}}
    assert not known.rules
    for goal in ("dice", "fry"):
        for template in (KNIFE, STOVE):
            assert not beliefs.sure(goal, template)
            # It is worth trying all the same, more than what never brought anything.
            assert beliefs.mean(goal, template) > beliefs.mean(goal, "eat NEEDED")


def test_one_clear_point_explains_all_that_came_before_and_the_opposite_rule_fails() -> None:
    known = Knowledge()
    for _ in range(10):
        both_done(known)
    known.tally("fry", STOVE).gained += 1
    beliefs = Beliefs(known, draw=None, caution=True)
    assert beliefs.sure("fry", STOVE)
    assert beliefs.sure("dice", KNIFE)
    assert beliefs.mean("dice", STOVE) < 0.2
    assert beliefs.mean("fry", KNIFE) < 0.2


def test_a_first_point_leaves_both_open_and_neither_command_is_given_twice() -> None:
    known = Knowledge()
    game = progress(known)
    game.point("egg", STOVE, NONE, frozenset({"fried"}))
    assert game.chances("egg") == pytest.approx({"dice": 0.5, "fry": 0.5})
    assert len(game.open_directions("egg")) == 1
    assert STOVE in game.used("egg")
    game.point("egg", KNIFE, NONE, frozenset({"diced"}))
    assert game.chances("egg") == {}
    assert game.open_directions("egg") == []


def test_what_fails_while_it_is_unsure_what_is_open_counts_in_part() -> None:
    known = Knowledge()
    game = progress(known)
    game.point("egg", STOVE, NONE, NONE)
    game.missed("eat NEEDED", game.chances("egg"), lost=True)
    assert known.rules["dice"]["eat NEEDED"].lost == pytest.approx(0.5)
    assert known.rules["fry"]["eat NEEDED"].lost == pytest.approx(0.5)


def test_a_known_word_tells_which_direction_the_point_was_for() -> None:
    known = Knowledge(marks={"fry": {"fried": 2}})
    game = progress(known)
    game.point("egg", STOVE, NONE, frozenset({"fried"}))
    assert known.rules == {"fry": {STOVE: Tally(gained=1)}}
    assert not list(known.puzzle_counts())
    assert game.open_directions("egg") == ["dice"]


def test_a_word_that_is_learned_later_solves_the_puzzle() -> None:
    known = Knowledge()
    game = progress(known)
    game.point("egg", STOVE, NONE, frozenset({"fried"}))
    known.marks["fry"] = {"fried": 1}  # from another ingredient
    game.see("egg", {"fried"})
    assert known.rules == {"fry": {STOVE: Tally(gained=1)}}
    assert not list(known.puzzle_counts())
    assert game.chances("egg") == {"dice": 1.0}


def test_a_state_from_before_the_point_was_no_part_of_it() -> None:
    known = Knowledge()
    game = progress(known)
    # Fried at the start, and nobody knows yet what the word means.
    game.point("egg", KNIFE, frozenset({"fried"}), frozenset({"fried", "diced"}))
    known.marks["fry"] = {"fried": 1}
    game.see("egg", {"fried", "diced"})
    assert known.rules == {"dice": {KNIFE: Tally(gained=1)}}
    assert game.chances("egg") == {}


def test_only_a_single_direction_teaches_words() -> None:
    known = Knowledge()
    both_done(known)
    assert not known.marks
    one = Assignment(("egg",), (("fry", "egg"),), ())
    game = Progress(one, Beliefs(known, draw=None, caution=True))
    game.point("egg", STOVE, NONE, frozenset({"fried"}))
    assert known.marks == {"fry": {"fried": 1}}


def test_explaining_keeps_every_point_and_is_the_same_each_time() -> None:
    known = Knowledge()
    for _ in range(3):
        both_done(known)
    known.tally("fry", STOVE).gained += 2
    credit = Credit(known)
    total = sum(credit.counts(g, t)[0] for g in ("dice", "fry") for t in (KNIFE, STOVE))
    assert total == pytest.approx(8)  # two of each egg, and two clear ones
    before = credit.counts("dice", KNIFE)
    credit.changed()
    assert credit.counts("dice", KNIFE) == before
    assert Credit(Knowledge.model_validate_json(known.text())).counts("dice", KNIFE) == before
