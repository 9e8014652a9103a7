"""The agents without a language model, and `hybrid`, driven by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from naisei.clarify.agent import Agent, AgentContext, View
from naisei.clarify.agents import bayes, embed, hybrid, questions
from naisei.clarify.agents import random as random_agent
from naisei.clarify.agents.features import load_weights
from naisei.clarify.agents.hybrid import COUNT, hypotheses_schema
from naisei.clarify.data import load
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import (
    Action,
    ActionSet,
    Clarify,
    Decision,
    Execute,
    Scene,
    TrialLog,
    Turn,
    UserInfo,
)
from naisei.core import Chat, Embed, InputError, play
from naisei.models.base import Embedder
from naisei.models.embedders import NgramEmbedder

DATA = load("ambigact40-open", split="dev")
ACTIONS = DATA.actions
EMBEDDER: Embedder = NgramEmbedder()
SCENE = Scene(
    id="s1",
    utterance="なんだか、ひと息つきたいな",
    user=UserInfo(place="リビング", posture="ソファに座っている", time="午後3時ごろ"),
    surroundings={
        "リビング": ("テレビ", "リモコン", "充電ケーブル"),
        "キッチン": ("棚のコップ", "お菓子の袋", "バナナ", "冷蔵庫の中のペットボトル"),
    },
)
#: What `random` draws with seed 0 in the scenes s0, s1, …
DRAWN = [7, 3, 26, 38, 40, 36, 23, 2, 25]
OTHERS = ActionSet(
    name="walk",
    actions=tuple(
        Action(id=i, text=text)
        for i, text in enumerate(
            ["近くの喫茶店を調べる", "近くの食堂を調べる", "電車の時刻を調べる", "母に電話する"], 1
        )
    ),
)


def context(actions: ActionSet = ACTIONS, **options: Any) -> AgentContext:
    return AgentContext(actions=actions, embedder=lambda: EMBEDDER, options=options)


def embedded(effect: Any) -> Any:
    assert isinstance(effect, Embed)
    return EMBEDDER.embed(list(effect.texts), "query")


def decide(agent: Agent, view: View) -> Decision:
    """The decision of an agent that needs embeddings, at most one effect of them."""
    flow = agent.decide(view)
    try:
        effect = next(flow)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    try:
        flow.send(embedded(effect))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise AssertionError("a second effect")


@pytest.fixture(scope="module")
def asking() -> Agent:
    return bayes.BayesAgent(context())


MODEL_FREE: list[Callable[[AgentContext], Agent]] = [
    bayes.BayesAgent,
    embed.EmbedAgent,
    random_agent.RandomAgent,
]


@pytest.mark.parametrize("build", MODEL_FREE)
@pytest.mark.parametrize("actions", [ACTIONS, OTHERS], ids=["ambigact40", "others"])
def test_never_repeats_and_ends_within_the_quota(
    build: Callable[[AgentContext], Agent], actions: ActionSet
) -> None:
    agent = build(context(actions))
    history: tuple[TrialLog, ...] = ()
    for trial in range(1, 4):
        asked: tuple[Turn, ...] = ()
        while True:
            view = View(
                scene=SCENE,
                actions=actions,
                asked=asked,
                tried=tuple(log.executed for log in history),
                history=history,
                may_ask=len(asked) < 2,
                quota_left=2 - len(asked),
                trial=trial,
            )
            decision = decide(agent, view)
            if isinstance(decision, Execute):
                break
            asked += (Turn(question=decision.question, answer="うーん、よくわかりません"),)
        assert len(asked) <= 2
        assert decision.action in actions.ids
        assert decision.action in view.allowed
        history += (TrialLog(trial=trial, turns=asked, action=decision.action),)
    every = [turn.question for log in history for turn in log.turns]
    assert len(every) == len(set(every))


def test_random_depends_on_seed_and_scene_alone() -> None:
    scenes = [SCENE.model_copy(update={"id": f"s{i}"}) for i in range(9)]

    def drawn(seed: int) -> list[int]:
        agent = random_agent.RandomAgent(AgentContext(actions=ACTIONS, seed=seed))
        made = [decide(agent, View(scene=scene, actions=ACTIONS)) for scene in scenes]
        return [each.action for each in made if isinstance(each, Execute)]

    # The same in every process and on every machine.
    assert drawn(0) == DRAWN
    assert drawn(1) != DRAWN


def test_bayes_asks_when_unsure_and_never_when_it_may_not(asking: Agent) -> None:
    vague = SCENE.model_copy(update={"utterance": "ねえ、ちょっとお願い"})
    view = View(scene=vague, actions=ACTIONS, trial=3)
    assert isinstance(decide(asking, view), Clarify)
    silent = View(scene=vague, actions=ACTIONS, trial=3, may_ask=False, quota_left=0)
    assert isinstance(decide(asking, silent), Execute)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("喉がからからで、お茶でも注いで飲みたいんです", {3, 23}),
        ("スマホの充電が切れそうで、電池がもたないんです", {2}),
        ("飲み終わったコップがそのままで、流しに下げたいんだよね", {12}),
        ("小腹が空いたから甘いお菓子でもつまみたい", {9}),
    ],
)
def test_bayes_understands_free_answers(asking: Agent, answer: str, wanted: set[int]) -> None:
    trouble = next(q for q in questions.bank(ACTIONS, "ambigact40", "ja") if q.id == "trouble")
    turn = Turn(question=trouble.text, answer=answer)
    view = View(scene=SCENE, actions=ACTIONS, asked=(turn,), may_ask=False, quota_left=0)
    decision = decide(asking, view)
    assert isinstance(decision, Execute)
    assert decision.action in wanted


def test_bayes_carries_the_answers_of_earlier_trials_over(asking: Agent) -> None:
    turn = Turn(question="喉が渇いていらっしゃいますか？", answer="はい、喉が渇いてます")
    first = TrialLog(trial=1, turns=(turn,), action=3)
    view = View(
        scene=SCENE,
        actions=ACTIONS,
        tried=(frozenset({3}),),
        history=(first,),
        trial=2,
        may_ask=False,
        quota_left=0,
    )
    decision = decide(asking, view)
    assert isinstance(decision, Execute)
    assert decision.action in {6, 23, 30}


def test_yes_and_no_move_the_posterior_in_opposite_directions(asking: Agent) -> None:
    assert isinstance(asking, bayes.BayesAgent)
    question = "飲み物に関わることでしょうか？"
    share = {}
    for answer in ("はい、そうです", "いいえ、違います", "【回答できません】"):
        turn = Turn(question=question, answer=answer)
        view = View(scene=SCENE, actions=ACTIONS, asked=(turn,))
        chances = decide(asking, view).chances
        share[answer] = sum(c.p for c in chances if c.action in (3, 6, 23, 30))
    yes, no, refused = share.values()
    assert yes > refused > no


def test_bayes_is_deterministic(asking: Agent) -> None:
    view = View(scene=SCENE, actions=ACTIONS)
    again = bayes.BayesAgent(context())
    assert decide(asking, view) == decide(again, view)


def test_thoughts_are_in_the_language_of_the_scene(asking: Agent) -> None:
    english = Scene(id="e", utterance="I am so thirsty", language="en")
    ja = decide(asking, View(scene=SCENE, actions=ACTIONS))
    en = decide(asking, View(scene=english, actions=ACTIONS, may_ask=False, quota_left=0))
    assert ja.thought.startswith("いちばんありそうなのは「")
    assert en.thought.startswith('Most likely "')


def every_question() -> Iterator[tuple[ActionSet, questions.Question]]:
    for actions, table in ((ACTIONS, "ambigact40"), (ACTIONS, ""), (OTHERS, "")):
        for language in ("ja", "en"):
            for question in questions.bank(actions, table, language):  # type: ignore[arg-type]
                yield actions, question


def test_no_question_of_the_bank_breaks_the_rules() -> None:
    broken = [q.text for actions, q in every_question() if broken_rule(q.text, actions)]
    assert broken == []


def test_questions_of_the_bank_are_distinct_and_truths_complete() -> None:
    for language in ("ja", "en"):
        bank = questions.bank(ACTIONS, "ambigact40", language)  # type: ignore[arg-type]
        assert len({q.text for q in bank}) == len(bank)
        for question in bank:
            if question.kind != "open":
                table = questions.reply_table(question)
                assert table.shape[1] == len(ACTIONS)
                assert np.allclose(table.sum(axis=0), 1.0)


def test_weights_that_cannot_be_read_are_refused(tmp_path: Any) -> None:
    bad = tmp_path / "w.json"
    bad.write_text('{"scene": 1}', encoding="utf-8")
    for path in (str(bad), str(tmp_path / "none.json")):
        with pytest.raises(InputError):
            load_weights(path)


def reply(
    view: View, rows: list[tuple[int, int, str]], question: str = "喉が渇きましたか？"
) -> Any:
    """A model's reply: (action, per cent, expected answer) for each hypothesis."""
    rows = rows + [(view.actions.ids[-1], 0, "unknown")] * (COUNT - len(rows))
    fields = {
        "thought": "たぶん飲み物",
        "hypotheses": [{"action": action, "percent": percent} for action, percent, _ in rows],
        "question": question if view.may_ask else "",
        "answers": [answer for *_, answer in rows] if view.may_ask else [],
    }
    return hypotheses_schema(view.actions.ids).model_validate(fields)


def test_hybrid_asks_only_when_the_answer_would_tell() -> None:
    agent = hybrid.HybridAgent(context())
    view = View(scene=SCENE, actions=ACTIONS, trial=3)
    telling = reply(view, [(3, 40, "yes"), (9, 40, "no")])
    useless = reply(view, [(3, 40, "yes"), (9, 40, "yes")])
    sure = reply(view, [(3, 95, "yes"), (9, 5, "no")])
    played = play(agent.decide(view), [telling])
    assert isinstance(played.effects[0], Chat)
    asked = played.result
    assert isinstance(asked, Clarify)
    assert (asked.question, asked.thought, asked.guess) == ("喉が渇きましたか？", "たぶん飲み物", 3)
    assert {c.action for c in asked.chances[:2]} == {3, 9} and asked.chances[0].p > 0.4
    assert isinstance(play(agent.decide(view), [useless]).result, Execute)
    done = play(agent.decide(view), [sure]).result
    assert isinstance(done, Execute) and (done.action, done.thought) == (3, "たぶん飲み物")


def test_hybrid_neither_repeats_a_question_nor_a_tried_action() -> None:
    agent = hybrid.HybridAgent(context())
    turn = Turn(question="喉が渇きましたか？", answer="いいえ")
    view = View(
        scene=SCENE, actions=ACTIONS, asked=(turn,), tried=(frozenset({3}),), quota_left=1, trial=2
    )
    again = reply(view, [(3, 60, "yes"), (6, 30, "yes"), (9, 10, "no")])
    done = play(agent.decide(view), [again]).result
    assert isinstance(done, Execute) and done.action == 6
    stubborn = play(agent.decide(view), [reply(view, [(3, 20, "yes")] * COUNT)]).result
    assert isinstance(stubborn, Execute) and stubborn.action != 3


def test_hybrid_asks_the_model_for_no_question_when_none_is_allowed() -> None:
    agent = hybrid.HybridAgent(context())
    view = View(scene=SCENE, actions=ACTIONS, may_ask=False, quota_left=0)
    played = play(agent.decide(view), [reply(view, [(9, 60, ""), (3, 20, "")])])
    assert isinstance(played.result, Execute)
    assert (played.result.action, played.result.thought) == (9, "たぶん飲み物")
    chat = played.effects[0]
    assert isinstance(chat, Chat) and "もう質問はできません" in chat.messages[-1].content


def test_hybrid_survives_a_model_that_gives_no_chances() -> None:
    view = View(scene=SCENE, actions=ACTIONS, may_ask=False, quota_left=0)
    played = play(
        hybrid.HybridAgent(context()).decide(view), [reply(view, [(6, 0, ""), (3, 0, "")])]
    )
    assert isinstance(played.result, Execute)
    assert played.result.action == 6
