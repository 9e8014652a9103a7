"""The parts of the language-model player, each by itself."""

import pytest

from naisei.textgame.llm.player import fallback, from_template, matched
from naisei.textgame.llm.prompt import (
    REFUSED,
    RIGHT_PLACE,
    RIGHT_STEP,
    WRONG_PLACE,
    Entry,
    Feedback,
    History,
    LLMOptions,
    family_of,
    messages,
    summarised,
    walkthrough,
)
from naisei.textgame.schemas import View
from naisei.textgame.texts import opening_words, plain

CANDIDATES = ("look", "take mug from bench", "put mug on shelf", "go east", "examine BBQ")


@pytest.mark.parametrize(
    "said",
    [
        "put mug on shelf",
        "Put Mug on Shelf",
        "  put   mug\non shelf ",
        "put mug on shelf.",
        "- put mug on shelf",
        "* put mug on shelf!",
        "3. put mug on shelf",
        "2) put mug on shelf",
        "3 put mug on shelf",
        "> put mug on shelf",
        "`put mug on shelf`",
        "“put mug on shelf.”",
        "**put mug on shelf**",
        '1. "put mug on shelf".',
    ],
)
def test_a_command_is_known_by_its_words_whatever_is_around_them(said):
    assert matched(said, CANDIDATES) == "put mug on shelf"


@pytest.mark.parametrize(
    "said",
    [
        "",
        "3",
        "-",
        "put mug",
        "put the mug on the shelf",
        "put mug on shelf then go east",
        "I would put mug on shelf",
        "<one action>",
    ],
)
def test_nothing_is_guessed(said):
    assert matched(said, CANDIDATES) is None


@pytest.mark.parametrize(
    ("text", "action", "thought"),
    [
        ("Consideration: it is dirty\nNext action: go east", "go east", "it is dirty"),
        ("Action: go east", "go east", ""),
        ("**Consideration:** a\nb\n\n**Next action:** go east\n", "go east", "a\nb"),
        ("next action:\n  go east", "go east", ""),
        ("Next action: go east\nNext action: Go east", "go east", ""),
        ("Next action: go east\nNext action: look", "", ""),
        ("<think>\nNext action: look\n</think>\nNext action: go east", "go east", ""),
        ("I will go east.", "", ""),
        ("", "", ""),
        ("Consideration: only this", "", "only this"),
        ("Consideration: x\nNext action:", "", "x"),
    ],
)
def test_a_template_is_read_strictly(text, action, thought):
    reply = from_template(text)
    assert (reply.action, reply.consideration, reply.raw) == (action, thought, text)


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (("eat apple", "go east", "look"), "look"),
        (("eat apple", "examine BBQ", "inventory"), "inventory"),
        (("cook apple with stove", "take knife", "go east"), "go east"),
        (("eat apple", "cook apple with stove"), "eat apple"),
    ],
)
def test_the_fallback_does_the_least_harm(candidates, expected):
    assert fallback(candidates) == expected


def test_places_are_called_right_and_wrong():
    feedback = Feedback("tidying")
    done = "You put the mug on the bench."
    assert feedback.word("put mug on bench", done, 0) == WRONG_PLACE
    assert feedback.word("take mug from bench", "You take the mug.", 0) == ""
    assert feedback.word("insert mug into wall cupboard", done, 1) == RIGHT_PLACE
    assert feedback.word("drop mug", "You drop the mug.", 0) == ""
    # Taken out and put back: it earns nothing, and is right all the same.
    assert feedback.word("insert mug into wall cupboard", done, 0) == RIGHT_PLACE
    assert feedback.word("put mug on bench", done, 0) == WRONG_PLACE


def test_steps_of_cooking_are_called_right_and_refused():
    feedback = Feedback("cooking")
    assert feedback.word("take leek", "You take the leek.", 1) == RIGHT_STEP
    assert feedback.word("put leek on counter", "You put the leek on the counter.", 0) == ""
    assert feedback.word("take egg", "You're carrying too many things already.", 0) == REFUSED
    assert feedback.word("prepare meal", "You need to take the leek first!", 0) == REFUSED


BANNER = "________  ____\n |  \\ |  $$$$ \n   \\$$    \\$$$\n\n"
STATUS = "\n\n\n\n>              -= Pantry =-0/2"


def test_texts_come_without_what_is_drawn_around_them():
    opening = (
        BANNER + "Welcome! You find yourself in a messy house.\n\n-= Pantry =-\nA pantry." + STATUS
    )
    assert opening_words(opening) == "Welcome! You find yourself in a messy house."
    assert plain(opening).endswith("-= Pantry =- A pantry.")
    assert plain("You take the mug." + STATUS) == "You take the mug."


def test_a_summary_says_no_more_of_places_than_the_player_was_told():
    text = summarised(
        [
            entry(0, "put mug on bench"),
            entry(1, "put knife on counter"),
            entry(2, "put mug on shelf", gained=1),
        ]
    )
    assert text.splitlines()[1:] == [
        "Points for: put mug on shelf",
        "Put: mug: bench; knife: counter",
    ]


def test_a_recipe_stays_a_recipe_on_one_line():
    text = (
        'You open the copy of "Cooking" and start reading:\n\nRecipe #1\n---------\nGather all.\n\n'
        "Ingredients:\nred pepper\n  leek\n\nDirections:\nchop the leek\n  prepare meal"
    )
    assert plain(text).endswith(
        "Ingredients: red pepper, leek. Directions: chop the leek, prepare meal"
    )


@pytest.mark.parametrize(
    ("opening", "family"),
    [
        ("You are hungry! Let's cook a delicious meal.", "cooking"),
        ("Many things are not in their usual location. Let's clean up this place.", "tidying"),
        ("This house is in a mess.", "tidying"),
        ("Find the treasure of the old lighthouse.", "general"),
        ("", "general"),
    ],
)
def test_the_kind_of_game_is_told_by_its_opening(opening, family):
    assert family_of(opening) == family


def entry(number, action, answer="Done.", word="", gained=0, room="Hall", to=""):
    return Entry(number, room, to or room, action, answer, word, gained)


def test_a_history_grows_at_its_end_only_until_it_is_folded():
    history = History(2000)
    before = ""
    for n in range(200):
        history.add(entry(n, f"examine thing {n}", "It is a thing like any other thing."))
        if due := history.due():
            assert len(history.text) > 2000
            history.fold(due, summarised([*history.folded, *due]))
            assert history.text.startswith("Summary of actions 0 to ")
        else:
            assert history.text.startswith(before)
        before = history.text
        assert len(history.text) <= 2000
        assert str(n) in history.text.splitlines()[-1]
    assert [e.number for e in (*history.folded, *history.recent)] == list(range(200))


def test_the_newest_command_is_never_folded():
    history = History(100)
    history.add(entry(0, "look"))
    history.add(entry(1, "examine cookbook", "word " * 100))
    due = history.due()
    assert [e.number for e in due] == [0]
    history.fold(due, summarised(due))
    assert history.due() == ()


def test_a_summary_keeps_what_the_rest_of_the_game_needs():
    text = summarised(
        [
            entry(0, "examine cookbook", "Directions: fry the leek"),
            entry(1, "put mug on bench", word=WRONG_PLACE),
            entry(2, "put mug on bench", word=WRONG_PLACE),
            entry(3, "go east", to="Kitchen"),
            entry(4, "put mug on shelf", word=RIGHT_PLACE, gained=1, room="Kitchen"),
            entry(5, "put mug on shelf", word=RIGHT_PLACE, room="Kitchen"),
            entry(6, "cook leek with stove", gained=1, room="Kitchen"),
            entry(7, "prepare meal", "You need the leek.", word=REFUSED, room="Kitchen"),
        ]
    )
    assert text.splitlines() == [
        "Summary of actions 0 to 7",
        "Wrong places: mug: bench",
        "Right places: mug: shelf",
        "Points for: cook leek with stove",
        "Ways: Hall, go east: Kitchen",
        "No good: prepare meal",
    ]


@pytest.mark.parametrize("family", ["tidying", "cooking"])
@pytest.mark.parametrize("example", ["hard", "easy"])
def test_examples_lose_the_added_words_with_the_augmentation(family, example):
    options = LLMOptions(example=example)
    full = walkthrough(options, family, augmented=True)
    bare = walkthrough(options, family, augmented=False)
    words = (RIGHT_PLACE, WRONG_PLACE, RIGHT_STEP, REFUSED)
    assert any(w in full for w in words)
    assert not any(w in bare for w in words)
    assert "Your score has just gone up by one point.\n" in bare + "\n"
    assert full.splitlines()[0].startswith("Action 0: ")


def test_a_game_of_an_unknown_kind_has_no_example():
    assert walkthrough(LLMOptions(), "general", augmented=True) == ""


def test_the_room_is_told_once():
    room = "-= Pantry =- You enter a small room with a shelf and a closed wooden door to the east."
    history = f"Action 0: look → It is dark.\nAction 1: go west → {room} You are hungry."
    view = View(room="Pantry", description=room, candidates=("look",))
    sent = messages(view, LLMOptions(), task="Cook.", example="", memo="", history=history)
    assert sent[0].content.count("a small room") == 1
    assert "You are hungry." in sent[0].content and "It is dark." in sent[0].content


def test_a_candidate_that_looks_marked_is_itself():
    odd = ("- wait -", "2 eggs", "examine BBQ")
    assert [matched(said, odd) for said in ("- wait -", "2 eggs", "EXAMINE bbq")] == [*odd]


def test_a_history_without_a_budget_is_never_folded():
    history = History(0)
    for n in range(500):
        history.add(entry(n, "look"))
    assert history.due() == ()


def test_a_recipe_stays_word_for_word_whoever_writes_the_summary():
    history = History(400)
    history.add(entry(0, "examine cookbook", "Directions: fry the leek"))
    for n in range(1, 60):
        history.add(entry(n, f"examine thing {n}", "It is a thing like any other thing."))
        if due := history.due():
            history.fold(due, "Somebody's notes that forgot the recipe.")
    assert history.summary.splitlines() == [
        "examine cookbook → Directions: fry the leek",
        "Somebody's notes that forgot the recipe.",
    ]
