"""The decision loop driven by hand: no world, no model."""

import pytest

from naisei.clarify.agent import AgentContext
from naisei.clarify.agents.llm import LLMAgent, reply_schema
from naisei.clarify.config import Rules
from naisei.clarify.flow import episode
from naisei.clarify.schemas import Action, ActionSet, Instance, Scene
from naisei.core import Act, AskUser, Chat, Observation, Remember, play
from naisei.memory.memo import Memo
from naisei.memory.none import NoMemory
from naisei.memory.window import Window
from naisei.schema import json_schema

ACTIONS = ActionSet(
    name="three",
    actions=tuple(
        Action(id=i, text=t) for i, t in enumerate(["水を出す", "窓を開ける", "灯りを消す"], 1)
    ),
)
LLM = LLMAgent(AgentContext(actions=ACTIONS))
INSTANCE = Instance(
    id="x", scene=Scene(id="x", utterance="ちょっと暑いな"), gold=2, plausible=(1, 2)
)
WRONG, RIGHT = Observation(reward=0, done=True), Observation(reward=1, done=True)


def ask(question: str, guess: int = 1):
    return lambda chat: chat.schema.model_validate(
        {"thought": "迷う", "choice": "clarify", "question": question, "action": guess}
    )


def execute(action: int):
    return lambda chat: chat.schema.model_validate(
        {"thought": "これだ", "choice": "execute", "question": "", "action": action}
    )


def test_a_failed_trial_is_reflected_upon_and_the_memo_reaches_the_next():
    memory = Memo()

    def remembered(effect: Remember) -> None:
        memory.add(effect.item)

    played = play(
        episode(INSTANCE, ACTIONS, LLM, memory, Rules(trials=3, quota=2)),
        [
            ask("のどが渇いていますか？"),
            "いいえ、そうでもないです",
            execute(1),
            WRONG,
            "・水ではなかった",
            remembered,
            execute(2),
            RIGHT,
        ],
    )
    result = played.result
    assert result.first_success == 2
    assert [t.steps for t in result.trials] == [2, 1]
    assert result.trials[0].turns[0].guess == 1
    assert result.memo == "・水ではなかった"
    kinds = [type(e) for e in played.effects]
    assert kinds == [Chat, AskUser, Chat, Act, Chat, Remember, Chat, Act]
    reflection, second = played.effects[4], played.effects[6]
    assert reflection.role == "reflector"
    assert "のどが渇いていますか" in reflection.messages[-1].content
    assert "本当の望み" not in str(reflection.messages)
    assert "・水ではなかった" in second.messages[1].content
    assert "1. 水を出す" in second.messages[1].content.split("もう選べません")[1]


def test_one_schema_is_sent_and_who_asks_beyond_the_quota_has_given_an_action():
    over = {"thought": "まだ聞きたい", "choice": "clarify", "question": "寒いですか？", "action": 2}
    played = play(
        episode(INSTANCE, ACTIONS, LLM, NoMemory(), Rules(trials=1, quota=1)),
        [
            ask("風を入れたいですか？"),
            "そうですね",
            lambda chat: chat.schema.model_validate(over),
            RIGHT,
        ],
    )
    sent = [json_schema(played.effects[i].schema, "ja") for i in (0, 2)]
    assert sent[0] == sent[1]
    assert list(sent[0]["properties"]) == ["thought", "choice", "question", "action"]
    with pytest.raises(ValueError, match="write the question"):
        played.effects[0].schema.model_validate({**over, "question": " "})
    assert played.result.first_success == 1


def test_without_clarify_nothing_may_be_asked():
    rules = Rules(trials=1, quota=2, clarify=False)
    played = play(episode(INSTANCE, ACTIONS, LLM, NoMemory(), rules), [execute(3), WRONG])
    assert played.result.trials[0].turns == ()


def test_an_executed_action_is_asked_for_once_more():
    rules = Rules(trials=2, quota=0)
    played = play(
        episode(INSTANCE, ACTIONS, LLM, NoMemory(), rules),
        [execute(3), WRONG, execute(3), execute(2), RIGHT],
    )
    first, second, again = (played.effects[i] for i in (0, 2, 3))
    assert first.schema is second.schema is again.schema
    assert again.messages[:-2] == second.messages
    assert "3. 灯りを消す はすでに実行して" in again.messages[-1].content
    assert [t.action for t in played.result.trials] == [3, 2]


def test_a_repeated_action_is_not_executed_again_and_wastes_the_trial():
    class Stubborn:
        name = "stubborn"

        def decide(self, view):
            from naisei.clarify.schemas import Execute

            return Execute(action=3)
            yield

    played = play(episode(INSTANCE, ACTIONS, Stubborn(), NoMemory(), Rules(trials=3)), [WRONG])
    assert [t.repeated for t in played.result.trials] == [False, True, True]
    assert len(played.effects) == 1


def reply(choice: str, action: int = 1, **more):
    return lambda chat: chat.schema.model_validate(
        {"thought": "", "choice": choice, "question": "", "action": action, **more}
    )


@pytest.mark.parametrize(
    ("choice", "reason"), [("none_fits", "none fits"), ("no_request", "no request")]
)
def test_an_agent_may_decline_where_none_may_be_wanted(choice, reason):
    rules = Rules(trials=3, quota=2)
    played = play(episode(INSTANCE, ACTIONS, LLM, Memo(), rules, declines=True), [reply(choice)])
    (log,) = played.result.trials
    assert (log.declined, log.action, log.acts, log.success) == (reason, None, (), False)
    assert "exactly one" not in str(played.effects[0].messages)
    plain = play(episode(INSTANCE, ACTIONS, LLM, NoMemory(), Rules(trials=1)), [execute(2), RIGHT])
    asked = [
        json_schema(p.effects[0].schema, "ja")["properties"]["choice"] for p in (played, plain)
    ]
    assert [choice in each["enum"] for each in asked] == [True, False]


def test_only_the_set_that_failed_is_barred_and_it_is_told_as_a_set():
    rules = Rules(trials=3, quota=0)
    played = play(
        episode(INSTANCE, ACTIONS, LLM, Memo(), rules, several=True),
        [
            reply("execute", 1, also=[]),
            WRONG,
            "・1 だけでは足りないか、違う",
            lambda effect: None,
            reply("execute", 1, also=[3]),
            WRONG,
            "・",
            lambda effect: None,
            reply("execute", 3, also=[1]),  # the same set again: told so
            reply("execute", 3, also=[2]),
            RIGHT,
        ],
    )
    assert [t.executed for t in played.result.trials] == [{1}, {1, 3}, {2, 3}]
    chats = [e for e in played.effects if isinstance(e, Chat)]
    assert not [c.role for c in chats if "ただ一つです。ほかの" in c.messages[0].content]
    reflector = next(c for c in chats if c.role == "reflector")
    assert "足りないか、余計なもの" in reflector.messages[-1].content
    last = next(c for c in chats if "1. 水を出す + 3. 灯りを消す" in str(c.messages))
    assert "もう選べません" not in str(last.messages)


def test_forbidden_questions_are_refused_where_the_rules_say_so():
    rules = Rules(trials=1, quota=1, forbidden="refuse")
    played = play(
        episode(INSTANCE, ACTIONS, LLM, NoMemory(), rules),
        [ask("どの行動をしてほしいですか？"), execute(2), RIGHT],
    )
    turn = played.result.trials[0].turns[0]
    assert turn.offence == "outright" and turn.refused
    assert AskUser not in [type(e) for e in played.effects]


def test_reflexion_keeps_the_last_three_and_shows_them_to_the_reflector():
    memory = Window(3)
    for note in "abcd":
        memory.add(note)
    assert memory.recall() == "b\n\nc\n\nd" and memory.previous() == memory.recall()


def test_schemas_are_built_once():
    assert reply_schema((1, 2)) is reply_schema((1, 2))
