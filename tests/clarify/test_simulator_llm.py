"""The simulator that is a language model, driven by scripted replies."""

from __future__ import annotations

from naisei.clarify.data import load_actions
from naisei.clarify.describe import REFUSAL
from naisei.clarify.schemas import Instance, Scene
from naisei.clarify.simulator import LLMSimulator, simulator
from naisei.core import AskUser, Chat, Flow, MemoryLog, Where, World, play, run

ACTIONS = load_actions()
ONE = Instance(
    id="i1",
    scene=Scene(id="s", utterance="ふう", surroundings={"台所": ("コップ",)}),
    gold=3,
)
HERE = Where("i1", 1)


def user() -> LLMSimulator:
    made = simulator("llm", ONE, ACTIONS)
    assert isinstance(made, LLMSimulator)
    return made


def test_it_is_told_the_scene_the_action_and_the_rules() -> None:
    played = play(user().respond(AskUser("のどは？"), HERE), ["「渇いたよ」"])
    assert played.result == "渇いたよ"
    (chat,) = played.effects
    assert isinstance(chat, Chat) and chat.role == "simulator"
    instructions = chat.messages[0].content
    for told in ("ふう", "コップを持ってくる", "台所", REFUSAL):
        assert told in instructions
    assert chat.messages[-1].content == "のどは？"


def test_its_own_answers_are_put_before_it() -> None:
    one = user()
    play(one.respond(AskUser("暑い？"), HERE), ["うん"])
    chat = play(one.respond(AskUser("では？"), HERE), ["さあ"]).effects[0]
    assert isinstance(chat, Chat)
    assert [m.content for m in chat.messages[1:]] == ["暑い？", "うん", "では？"]


def test_refusals_get_one_spelling_and_nothing_is_no_answer() -> None:
    for reply in ("[回答できません]", "回答できません。", "  "):
        assert play(user().respond(AskUser("色は？"), HERE), [reply]).result == REFUSAL


def test_leaks_pass_through_for_the_audit_to_count() -> None:
    reply = "コップを持ってきて。"
    assert play(user().respond(AskUser("何？"), HERE), [reply]).result == reply


def test_history_is_rebuilt_on_replay() -> None:
    def talk() -> Flow[list[str]]:
        return [(yield from AskUser("暑い？")), (yield from AskUser("では？"))]

    seen: list[int] = []

    def model(chat: Chat[str]) -> str:
        seen.append(len(chat.messages))
        return f"返事{len(chat.messages)}"

    log = MemoryLog()
    whole = run(talk(), World({AskUser: user(), Chat: model}), log=log, where=HERE)
    assert seen == [2, 4]
    cut = MemoryLog()
    # The nested call comes before the answer that it led to.
    for event in log.events[:2]:
        cut.append(event)
    seen.clear()
    assert run(talk(), World({AskUser: user(), Chat: model}), log=cut, where=HERE) == whole
    assert seen == [4]


def test_english_scenes_get_english_instructions() -> None:
    one = Instance(id="e", scene=Scene(id="e", utterance="Phew", language="en"), gold=3)
    chat = play(
        LLMSimulator(one, load_actions(language="en")).respond(AskUser("Thirsty?"), HERE), ["Yes"]
    ).effects[0]
    assert isinstance(chat, Chat)
    assert "You are a person at home" in chat.messages[0].content
