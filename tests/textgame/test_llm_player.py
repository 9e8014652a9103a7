"""The language-model player driven by hand: what it asks, and what it makes of the answers."""

import pytest

from naisei.core import Chat, InputError, InstrumentFailure, play
from naisei.memory.memo import Memo
from naisei.memory.none import NoMemory
from naisei.memory.window import Window
from naisei.textgame.llm.kind import build
from naisei.textgame.llm.player import LLMPlayer
from naisei.textgame.llm.prompt import RIGHT_PLACE, RIGHT_STEP, WRONG_PLACE, LLMOptions
from naisei.textgame.player import PlayerContext, Reflective
from naisei.textgame.schemas import GameResult, Step, View

CANDIDATES = ("look", "go east", "put mug on bench", "put mug on shelf", "take mug from bench")
START = View(
    room="Hall",
    description="-= Hall =-\nA hall with a bench.",
    inventory="You are carrying: a mug.",
    candidates=CANDIDATES,
    feedback="Things lie about; tidy up this house!\n\n-= Hall =-\nA hall with a bench.",
)


def after(action: str, score: int = 0, feedback: str = "", **changes) -> View:
    return START.model_copy(
        update={"feedback": feedback or f"You {action}.", "score": score, **changes}
    )


def replies(action: str, thought: str = "so be it"):
    def reply(chat: Chat):
        if chat.schema is None:
            return f"Consideration: {thought}\nNext action: {action}"
        fields = {"consideration": thought, "action": action}
        return chat.schema.model_validate({name: fields[name] for name in chat.schema.model_fields})

    return reply


class Game:
    """Plays one player on, a step at a time; keeps the effects of the last decision."""

    def __init__(self, memo: str = "", **options):
        self.player = LLMPlayer(LLMOptions(**options), memo=memo)

    def step(self, view: View, *answers):
        played = play(self.player.decide(view), list(answers))
        self.chats = played.effects
        return played.result

    def prompt(self, view: View = START) -> tuple[str, str]:
        self.step(view, replies("look"))
        first, second = self.chats[0].messages
        assert (first.role, second.role) == ("system", "user")
        return first.content, second.content


def test_the_parts_stand_where_the_thesis_puts_them():
    system, user = Game().prompt()
    heads = (
        "Task: ",
        "Example walkthrough",
        "Action history",
        "Inventory: You are carrying: a mug.",
        "Current environment: -= Hall =- A hall",
    )
    places = [system.index(head) for head in heads]
    assert places == sorted(places)
    assert "\nput mug on shelf\n" in user
    assert "step by step" in user
    assert "put mug on shelf" not in system.split("Action history")[1]


def test_without_thinking_no_consideration_is_asked_for():
    game = Game(thinking=False)
    _, user = game.prompt()
    assert "step by step" not in user
    assert "onsideration" not in user
    assert list(game.chats[0].schema.model_fields) == ["action"]
    assert game.step(after("look"), replies("look")).thoughts == ""


def test_the_template_is_asked_for_in_plain_text():
    for thinking in (True, False):
        game = Game(reply="template", thinking=thinking)
        _, user = game.prompt()
        assert game.chats[0].schema is None
        assert ("Consideration: <" in user) is thinking
        assert "Next action: <" in user


def played(game: Game) -> str:
    """The history after a wrong place, a right one, and a look."""
    game.step(START, replies("put mug on bench"))
    game.step(after("put mug on bench"), replies("take mug from bench"))
    game.step(after("take mug from bench"), replies("put mug on shelf"))
    return game.prompt(after("put mug on shelf", 1))[0].split("Action history")[1]


def test_the_history_holds_each_action_with_the_games_answer_and_a_word_on_it():
    assert played(Game()).split("\n\n")[0].splitlines()[1:] == [
        f"Action 0: put mug on bench → You put mug on bench. {WRONG_PLACE}",
        "Action 1: take mug from bench → You take mug from bench.",
        f"Action 2: put mug on shelf → You put mug on shelf. {RIGHT_PLACE}",
    ]


def test_points_of_earlier_steps_make_no_place_right():
    game = Game()
    played(game)
    game.step(after("take coat", 1), replies("put mug on bench"))
    system, _ = game.prompt(after("put mug on bench", 1))
    assert f"put mug on bench → You put mug on bench. {WRONG_PLACE}\n\n" in system


def test_without_augmentation_the_words_are_gone_from_history_and_example():
    game = Game(feedback="none")
    history = played(game)
    assert "Action 2: put mug on shelf → You put mug on shelf.\n" in history
    whole = "".join(m.content for m in game.chats[0].messages)
    assert not any(word in whole for word in (RIGHT_PLACE, WRONG_PLACE, RIGHT_STEP))


def test_the_beginning_of_the_prompt_stays_as_it_was_while_the_history_grows():
    game = Game(memo="- the shelf")
    first = game.prompt()[0].split("Action history")[0]
    game.prompt(after("look"))
    third = game.prompt(after("look"))[0]
    fourth = game.prompt(after("look"))[0]
    assert third.startswith(first)
    assert fourth.startswith(third.split("\n\nInventory")[0])


def test_nothing_is_told_of_the_most_points_there_are():
    a, b = (Game().prompt(START.model_copy(update={"max_score": n})) for n in (1, 97531))
    assert a == b


def test_cooking_and_unknown_games_have_tasks_of_their_own():
    cook = START.model_copy(update={"feedback": "You are hungry! Check the cookbook.\n"})
    system, _ = Game().prompt(cook)
    assert "cookbook" in system
    assert RIGHT_STEP in system
    odd = START.model_copy(update={"feedback": "Find the lighthouse keeper.\n\n-= Hall =-\n."})
    system, _ = Game().prompt(odd)
    assert "Find the lighthouse keeper." in system
    assert "Example" not in system


def test_the_task_can_be_set():
    assert "cookbook" in Game(task="cooking").prompt()[0]
    assert Game(task_text="Task: $sing.").prompt()[0].startswith("Task: $sing.\n")


@pytest.mark.parametrize("reply", ["schema", "template"])
def test_a_command_that_is_not_in_the_list_is_asked_for_once_more(reply):
    game = Game(reply=reply)
    decision = game.step(START, replies("dance"), replies("- Go east."))
    assert decision.action == "go east"
    assert decision.counts == {"repairs": 1, "unmatched": 0}
    again = game.chats[1].messages
    assert [m.role for m in again] == ["system", "user", "assistant", "user"]
    assert "“dance”" in again[3].content
    assert "- put mug on shelf" in again[3].content
    assert "dance" in again[2].content


@pytest.mark.parametrize("reply", ["schema", "template"])
def test_after_a_repair_in_vain_a_harmless_command_is_taken_and_counted(reply):
    game = Game(reply=reply)
    decision = game.step(START, replies("dance"), replies("sing"))
    assert decision.action == "look"
    assert decision.counts == {"repairs": 1, "unmatched": 1}
    assert len(game.chats) == 2


def test_a_reply_outside_the_template_is_repaired():
    game = Game(reply="template")
    decision = game.step(START, lambda chat: "Let me think about it.", replies("go east"))
    assert decision.action == "go east"
    assert "(no command)" in game.chats[1].messages[3].content


def test_no_reply_at_all_is_no_decision():
    def down(chat):
        raise InstrumentFailure("the endpoint is down")

    with pytest.raises(InstrumentFailure):
        Game().step(START, down)


def test_a_person_who_does_something_else_is_followed():
    game = Game()
    game.step(START, replies("put mug on bench"))
    assert game.player.did("go east") is True
    history = game.prompt(after("go east"))[0].split("Action history")[1]
    assert "Action 0: go east → You go east." in history
    assert "put mug on bench" not in history


def test_a_long_history_is_folded_and_keeps_what_it_learnt():
    game = Game(history_chars=600)
    game.step(START, replies("put mug on bench"))
    view = after("put mug on bench")
    for n in range(40):
        game.step(view, replies("look"))
        view = after("look", feedback=f"You see dust in corner {n}.")
    system, _ = game.prompt(view)
    history = system.split("answered):\n")[1].split("\n\nInventory")[0]
    assert len(history) <= 600
    assert history.startswith("Summary of actions 0 to ")
    assert "Wrong places: mug: bench" in history
    assert "corner 39" in history
    assert "corner 3." not in history


def lost(memo: str = "") -> GameResult:
    steps = (
        Step(room="Hall", action="put mug on bench", thoughts="A seat", feedback="Done.", score=0),
        Step(room="Hall", action="put mug on shelf", feedback="Done.", score=1),
    )
    return GameResult(
        game="g", score=1, max_score=97531, won=False, lost=False, steps=steps, memo=memo,
        opening=START.feedback,
    )  # fmt: skip


def test_the_reflector_sees_the_try_as_the_player_did():
    kind = build()
    assert isinstance(kind, Reflective)
    memory = Memo("- old note")
    flow = kind.reflect(LLMOptions(memory="tur"), lost(), memory)
    done = play(flow, ["  - new note\n"])
    assert done.result == "- new note"
    assert done.effects[0].role == "reflector"
    given = done.effects[0].messages[1].content
    assert f"put mug on bench → Done. {WRONG_PLACE}" in given
    assert f"put mug on shelf → Done. {RIGHT_PLACE}" in given
    assert "A seat" in given
    assert "- old note" in given
    assert "97531" not in given


def test_reflexion_sees_its_notes_and_augmentation_can_be_off():
    memory = Window()
    memory.add("old")
    options = LLMOptions(memory="reflexion", feedback="none")
    done = play(build().reflect(options, lost(), memory), ["note"])
    given = done.effects[0].messages[1].content
    assert "old" in given
    assert WRONG_PLACE not in given


def test_the_memory_is_by_the_setting():
    kind = build()
    made = [kind.memory(LLMOptions(memory=name))() for name in ("none", "tur", "reflexion")]
    assert [type(m) for m in made] == [NoMemory, Memo, Window]
    with pytest.raises(InputError, match="memory policy"):
        kind.memory(LLMOptions(memory="elephant"))


def test_the_memo_of_the_context_reaches_the_prompt():
    player = build().new(
        PlayerContext(game="g", settings=LLMOptions(), memo="- the shelf is right")
    )
    done = play(player.decide(START), [replies("look")])
    assert "- the shelf is right" in done.effects[0].messages[0].content
    assert "Memo" not in Game().prompt()[0]
