"""The conversation of Tables 5.5 and 6.2, and the navigator, driven by hand."""

from __future__ import annotations

import pytest

from naisei.core import Chat, InputError, Message, play
from naisei.plugins import typed
from naisei.textgame.llm.kind import build
from naisei.textgame.llm.prompt import LLMOptions, task_text
from naisei.textgame.player import Follows, PlayerContext
from naisei.textgame.schemas import Decision, View

BOOK = (
    "You open it.\n\nIngredients:\n  red apple\n\nDirections:\n  fry the red apple\n  prepare meal"
)
#: Three rooms in a row from west to east, the apple and the stove at its ends.
ROOMS = {"Garden": (), "Corridor": (), "Kitchen": ("examine cookbook",)}
WAYS = {"Garden": ("go east",), "Corridor": ("go east", "go west"), "Kitchen": ("go west",)}


def view(room: str, *more: str, feedback: str = "", score: int = 0, held: str = "") -> View:
    stove = " You can see a stove." if room == "Kitchen" else ""
    return View(
        room=room,
        description=f"-= {room} =-\nYou are in the {room.lower()}.{stove}",
        inventory=f"You are carrying: {held}." if held else "You are carrying nothing.",
        candidates=(*ROOMS[room], *WAYS[room], *more),
        feedback=feedback or f"-= {room} =-\nYou are in the {room.lower()}.",
        score=score,
    )


OPENING = view(
    "Kitchen", feedback="You are hungry! Check the cookbook.\n\n-= Kitchen =-\nA kitchen."
)


class Game:
    def __init__(self, **options: object) -> None:
        settings = LLMOptions.model_validate({"prompt": "dialogue", **options})
        self.player = build().new(PlayerContext(game="g", settings=settings))
        self.chats: list[Chat[str]] = []

    def step(self, seen: View, *replies: str) -> Decision:
        played = play(self.player.decide(seen), list(replies))
        self.chats = [effect for effect in played.effects if isinstance(effect, Chat)]
        return played.result

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self.chats[0].messages)

    @property
    def turn(self) -> str:
        return self.chats[0].messages[-1].content


def test_a_turn_tells_what_the_thesis_has_it_tell() -> None:
    game = Game()
    assert game.step(OPENING, "- examine cookbook").action == "examine cookbook"
    assert "Room: Kitchen\nInventory: nothing. Total 0 items.\nRecipe: missing\n" in game.turn
    assert "- examine cookbook\n- go west\n" in game.turn
    assert "Executed action" not in game.turn
    game.step(view("Kitchen", feedback=BOOK, score=1, held="a raw red apple"), "go west")
    assert game.turn.startswith("Executed action 1: examine cookbook\nPoints so far: 1\n")
    assert "a raw red apple. Total 1 items." in game.turn
    assert "Recipe: Ingredients:\nred apple\nDirections:\nfry the red apple" in game.turn
    roles = [m.role for m in game.messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_reply_that_is_none_is_asked_for_once_more_and_then_does_no_harm() -> None:
    game = Game()
    decision = game.step(OPENING, "hm", "<think>west</think>go west")
    assert decision.counts == {"repairs": 1, "unmatched": 0}
    assert decision.action == "go west"
    assert "- examine cookbook" in game.chats[1].messages[-1].content
    game = Game()
    decision = game.step(OPENING, "hm", "hmm")
    assert (decision.action, decision.counts["unmatched"]) == ("examine cookbook", 1)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [m.content for m in messages]


def test_the_recipe_stands_once_and_a_request_begins_as_the_one_before() -> None:
    game = Game()
    game.step(OPENING, "examine cookbook")
    game.step(view("Kitchen", feedback=BOOK), "go west")
    told = texts(game.messages)
    for seen in (view("Corridor"), view("Kitchen", feedback=BOOK)):
        before = told
        game.step(seen, "go west")
        told = texts(game.messages)
        assert sum("fry the red apple" in text for text in told) == 1
        assert told[: len(before) - 1] == before[:-1]
        # The newest turn lost its list of commands, and nothing else.
        assert before[-1].startswith(told[len(before) - 1])


def test_turns_are_forgotten_in_blocks_and_the_recipe_never() -> None:
    game = Game(history_chars=1200)
    game.step(OPENING, "examine cookbook")
    game.step(view("Kitchen", feedback=BOOK), "go west")
    broken, before = 0, texts(game.messages)
    for _ in range(40):
        game.step(view("Kitchen", feedback="Nothing."), "go west")
        told = texts(game.messages)
        assert sum("fry the red apple" in text for text in told) == 1
        assert sum(map(len, told[1:])) <= 1200
        broken += told[: len(before) - 1] != before[:-1]
        before = told
    assert 1 <= broken <= 10


def test_what_the_navigator_is_stands_in_the_task() -> None:
    for on in (False, True):
        game = Game(navigator=on)
        game.step(OPENING, "go west")
        assert ("navigate to" in game.messages[0].content) is on
    # Where nothing is cooked there is no recipe that it could wait for.
    assert "navigate to" not in task_text(LLMOptions(navigator=True), "tidying", "")


def test_the_navigator_offers_ways_once_the_recipe_is_known_and_walks_straight_on() -> None:
    game = Game(navigator=True)
    game.step(OPENING, "examine cookbook")
    assert "navigate to" not in game.turn
    game.step(view("Kitchen", feedback=BOOK), "go west")
    game.step(view("Corridor"), "go west")
    assert "navigate to stove" in game.turn
    decision = game.step(view("Garden", "take red apple"), "navigate to cookbook")
    assert (decision.action, decision.counts["navigations"]) == ("go east", 1)
    # Two commands in one direction: the second is not taken for a way that is blocked.
    decision = game.step(view("Corridor"))
    assert decision.action == "go east"
    assert not game.chats
    # It has arrived, and is asked again; the conversation tells of the choice that was made.
    game.step(view("Kitchen"), "go west")
    assert game.turn.startswith("Executed action 4: navigate to cookbook\n")


def test_a_way_that_is_blocked_is_left() -> None:
    game = Game(navigator=True)
    game.step(OPENING, "examine cookbook")
    game.step(view("Kitchen", feedback=BOOK), "go west")
    game.step(view("Corridor"), "navigate to stove")
    assert game.step(view("Corridor", feedback="You cannot."), "go west").action == "go west"
    assert len(game.chats) == 1


def test_the_navigator_is_a_switch_of_the_other_prompt_too_and_follows_a_person() -> None:
    game = Game(prompt="whole", reply="template", navigator=True)
    action = "Consideration: hm\nNext action: {}"
    game.step(OPENING, action.format("examine cookbook"))
    game.step(view("Kitchen", feedback=BOOK), action.format("go west"))
    game.step(view("Corridor"), action.format("go west"))
    decision = game.step(view("Garden"), action.format("navigate to stove"))
    assert decision.thoughts == "navigate to stove: hm"
    assert isinstance(game.player, Follows)
    assert game.player.did("look")
    game.step(view("Garden"), action.format("go east"))
    assert len(game.chats) == 1


@pytest.mark.parametrize("setting", ["thinking=false", "example=none", "feedback=none"])
def test_parts_that_a_conversation_has_not_cannot_be_switched(setting: str) -> None:
    name, _, value = setting.partition("=")
    with pytest.raises(InputError, match=name):
        typed(LLMOptions, {"prompt": "dialogue", name: value})
