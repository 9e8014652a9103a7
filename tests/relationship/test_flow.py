"""The flow by hand: who speaks and reflects when, what it costs, and what the speakers are told."""

import re
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from naisei.core import Chat, Embed, InstrumentFailure, Message, Now, Where, World, run
from naisei.models.embedders import EmbedHandler, NgramEmbedder
from naisei.relationship.config import Clock, RelationshipConfig, Rules
from naisei.relationship.pairs import shipped
from naisei.relationship.schemas import Conversation, Importances, Questions, Summary
from naisei.relationship.task import ConversationTask
from naisei.relationship.vector import VectorReply

QUESTIONS = Questions(Power="敬意は？", Intimacy="私事は？", TaskOriented="用件は？")
HEAD = "への今の態度（-3〜3）】"


class Model:
    """Answers every role, and keeps what it was told. powers: of the vectors, in order."""

    def __init__(self, *, fails: str = "", powers: tuple[int, ...] = (2,)) -> None:
        self.asked: list[Chat[Any]] = []
        self.fails, self.powers, self.lines, self.read = fails, powers, 0, 0

    def __call__(self, chat: Chat[Any]) -> Any:
        self.asked.append(chat)
        if chat.role == self.fails:
            raise InstrumentFailure(f"the {chat.role} is down")
        if chat.schema is Questions:
            return QUESTIONS
        if chat.schema is VectorReply:
            power = self.powers[min(self.read, len(self.powers) - 1)]
            self.read += 1
            near = {"evidence": [1], "reason": "互いに名で呼んだ。", "value": 1}
            chat_only = {"evidence": [1], "reason": "天気の話だけをした。", "value": -1}
            return VectorReply.model_validate(
                {"Power": power, "Intimacy": near, "TaskOriented": chat_only}
            )
        if chat.schema is Summary:
            return Summary(summary="設計を見直す約束をした。")
        if chat.schema is Importances:
            count = chat.messages[-1].content.count("\n")
            return Importances(importances=tuple(range(1, count + 1)))
        self.lines += 1
        return f"{self.lines}番目の発言です。"

    def roles(self, role: str) -> list[Chat[Any]]:
        return [chat for chat in self.asked if chat.role == role]


def talk(model: Model, pair: str = "engineers", **rules: Any) -> Conversation:
    config = RelationshipConfig(personas=(pair,), rules=Rules(**rules), embedder="ngram")
    task = ConversationTask(config)
    clock = lambda _: datetime(2026, 11, 21, 12, 0)  # noqa: E731
    base = World({Chat: model, Now: clock, Embed: EmbedHandler(NgramEmbedder())})
    flow, world = task.start(Where(pair, 1), base)
    found = run(flow, world)
    assert isinstance(found, Conversation)
    return found


def text(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(message.content for message in messages)


def test_off_is_the_default_and_asks_for_nothing_but_lines() -> None:
    model = Model()
    found = talk(model, sessions=1, turns=4)
    assert [chat.role for chat in model.asked] == ["speaker"] * 4
    assert [line.speaker for line in found.sessions[0].lines] == ["a", "b", "a", "b"]
    assert not found.sessions[0].moments and not any(HEAD in text(c.messages) for c in model.asked)


def test_after_each_utterance_the_next_speaker_reflects_and_speaks_by_it() -> None:
    model = Model()
    found = talk(model, sessions=1, turns=4, reflection="turn")
    first = ["speaker", "questioner", "reflector", "questioner", "reflector"]
    assert [chat.role for chat in model.asked] == [
        *first,
        *["speaker", "questioner", "reflector"] * 3,
    ]
    moments = found.sessions[0].moments
    assert [m.next_speaker for m in moments] == ["b", "a", "b", "a"]
    assert [[r.direction for r in m.reflections] for m in moments] == [
        ["b_to_a", "a_to_b"],
        ["a_to_b"],
        ["b_to_a"],
        ["a_to_b"],
    ]
    assert [m.stances["b_to_a"].carried for m in moments] == [False, True, False, True]
    assert [line.injected for line in found.sessions[0].lines] == [False, True, True, True]
    told = [text(chat.messages) for chat in model.roles("speaker")]
    assert [HEAD in prompt for prompt in told] == [False, True, True, True]
    assert "Power: +2（優位）" in told[1].rpartition(HEAD)[2]


def test_a_number_is_told_with_its_reason_until_it_fades() -> None:
    model = Model()
    talk(model, sessions=2, turns=2, reflection="turn")
    told = [text(chat.messages).rpartition(HEAD)[2] for chat in model.roles("speaker")]
    assert "Intimacy: +1（やや親しい） 互いに名で呼んだ。" in told[1]
    assert "TaskOriented: -1（やや雑談寄り） 天気の話だけをした。" in told[1]
    # A week later the talk of then is no reason any more.
    assert "TaskOriented: 0（半々）\n" in told[2] and "互いに名で呼んだ。" in told[2]


def test_what_a_partner_keeps_to_themselves_is_told_to_nobody_else() -> None:
    model = Model()
    talk(model, sessions=1, turns=2, reflection="turn", directions="both")
    wish, whose = "認められたい", "三浦 拓海"
    asked = [(chat, text(chat.messages)) for chat in model.asked if chat.role != "questioner"]
    knowing = [prompt for _, prompt in asked if wish in prompt]
    assert knowing and all(
        f"あなた: {whose}" in prompt or f"{whose} から" in prompt for prompt in knowing
    )


def test_without_injection_it_is_computed_and_told_to_nobody() -> None:
    model = Model()
    found = talk(model, sessions=1, turns=4, reflection="turn", inject=False)
    assert len(model.roles("reflector")) == 5
    assert not any(HEAD in text(chat.messages) for chat in model.roles("speaker"))
    assert not any(m.injected for m in found.sessions[0].moments)
    assert not any(line.injected for line in found.sessions[0].lines)


def test_at_session_start_both_reflect_once_and_speak_by_it_all_along() -> None:
    model = Model()
    found = talk(model, sessions=2, turns=3, reflection="session", summary=False)
    assert len(model.roles("questioner")) == 4 and len(model.roles("reflector")) == 4
    assert [(m.at, m.turn) for s in found.sessions for m in s.moments] == [("session_start", 0)] * 2
    assert all(HEAD in text(chat.messages) for chat in model.roles("speaker"))
    # Three utterances a session: the second is begun by the other.
    assert [s.lines[0].speaker for s in found.sessions] == ["a", "b"]


@pytest.mark.parametrize("pair", ["engineers", "flatmates"])
@pytest.mark.parametrize("mode", ["off", "session", "turn"])
def test_the_prompts_of_a_speaker_share_all_but_their_end(pair: str, mode: str) -> None:
    model = Model(powers=(2, -1, 3, 0, -3))
    talk(model, pair, sessions=1, turns=9, reflection=mode)
    head = "【" if pair == "engineers" else "[Your attitude to"
    for parity in (0, 1):
        told = [chat.messages for chat in model.roles("speaker")][parity::2]
        bare = [text(messages).partition(f"\n\n{head}")[0] for messages in told]
        for before, after in pairwise(bare):
            assert after.startswith(before) and len(after) > len(before)
        assert len({messages[0].content for messages in told}) == 1
        assert all(messages[-1].role == "user" for messages in told)
    vectors = [chat.messages[0].content for chat in model.roles("reflector")]
    assert len(set(vectors)) <= 2, "one set of instructions a direction"


def test_sessions_carry_a_summary_a_gap_and_memories() -> None:
    model = Model()
    found = talk(model, sessions=3, turns=2, reflection="turn", clock={"gap_days": 6})
    assert [s.start for s in found.sessions] == [datetime(2026, 4, d, 10) for d in (6, 12, 18)]
    assert [bool(s.summary) for s in found.sessions] == [True, True, False]
    third = model.roles("speaker")[4].messages[0].content
    assert "前回の会話から6日たった" in third and third.count("設計を見直す約束をした。") == 2
    assert "前回の会話" not in model.roles("speaker")[0].messages[0].content
    last = found.sessions[2].moments[-1].reflections[0]
    ids = [ground.id for ground in last.evidence]
    assert {"D1:1", "S1", "fact:a:1"} <= set(ids) and ids[-1] == "D3:2"
    old, new = (next(g for g in last.evidence if g.id == id) for id in ("D1:1", "D3:2"))
    assert old.recency < new.recency == 1.0


def test_evidence_is_in_the_order_of_time_and_the_newest_is_marked() -> None:
    found = talk(
        Model(powers=(2, -1, 1)), sessions=2, turns=6, reflection="turn", evidence_chars=400
    )
    for session in found.sessions:
        for moment in session.moments:
            for made in moment.reflections:
                said = [g.text for g in made.evidence if g.id.startswith("D")]
                assert [("（最新）" in line) for line in said] == [*[False] * (len(said) - 1), True]
                dates = [line.split()[1] for line in said]
                assert dates == sorted(dates) and sum(map(len, said)) <= 400


def test_a_reading_is_told_once_with_its_date_and_is_no_evidence() -> None:
    model = Model(powers=(2, -1, 1))
    found = talk(model, sessions=2, turns=4, reflection="turn")
    told = [text(chat.messages) for chat in model.roles("reflector")]
    assert [prompt.count("前の値") for prompt in told[:2]] == [0, 0]
    assert all(prompt.count("前の値（2026-04-") == 1 for prompt in told[2:])
    assert all("前の値（" not in text(c.messages) for c in model.roles("questioner"))
    made = [r for s in found.sessions for m in s.moments for r in m.reflections]
    assert not any("態度" in ground.text for one in made for ground in one.evidence)


def test_what_has_faded_is_told_by_its_summary() -> None:
    rules = {"sessions": 3, "turns": 2, "reflection": "turn", "clock": {"gap_days": 60}}
    found = talk(Model(), **rules, half_life_days=20.0)
    last = found.sessions[2].moments[-1].reflections[0]
    ids = {ground.id for ground in last.evidence}
    assert {"S1", "S2", "D3:1", "D3:2"} <= ids and not ids & {"D1:1", "D1:2", "D2:1"}


def test_each_direction_has_its_own_questions_and_evidence() -> None:
    model = Model()
    talk(model, sessions=1, turns=2, reflection="turn", directions="both")
    aims = [chat.messages[-1].content.splitlines()[0] for chat in model.roles("questioner")]
    assert {aim.partition(" に対して")[0] for aim in aims[:2]} == {
        "倉田 美和 が 三浦 拓海",
        "三浦 拓海 が 倉田 美和",
    }
    asked = [chat.messages[-1].content.partition("\n今は")[2] for chat in model.roles("reflector")]
    for src, dst in (("倉田 美和", "三浦 拓海"), ("三浦 拓海", "倉田 美和")):
        (one,) = [question for question in asked[:2] if f"{src} から {dst} への値" in question]
        assert f"- Power: {src} が {dst} より上" in one and f"{src} が {dst} に感じる" in one


def test_importance_is_rated_in_batches() -> None:
    model = Model()
    found = talk(
        model, sessions=1, turns=7, reflection="turn", importance="model", importance_every=3
    )
    batches = [chat.messages[-1].content.count("\n") for chat in model.roles("rater")]
    assert batches == [3, 3, 1] and found.sessions[0].rating_failures == 0


def test_a_rater_or_summariser_that_fails_stops_nothing_and_is_counted() -> None:
    rated = talk(Model(fails="rater"), sessions=1, turns=4, importance="model", importance_every=2)
    assert rated.sessions[0].rating_failures == 2 and len(rated.sessions[0].lines) == 4
    parted = talk(Model(fails="summariser"), sessions=2, turns=2)
    assert "is down" in parted.sessions[0].summary_failure and len(parted.sessions) == 2


@pytest.mark.parametrize("role", ["questioner", "reflector"])
def test_a_reading_that_fails_is_no_zero_and_is_injected_nowhere(role: str) -> None:
    model = Model(fails=role)
    found = talk(model, sessions=1, turns=3, reflection="turn")
    for moment in found.sessions[0].moments:
        assert all(s.reading.vector is None and s.reading.failure for s in moment.stances.values())
        assert not moment.injected
    assert not any(HEAD in text(chat.messages) for chat in model.roles("speaker"))


def test_an_embedder_that_fails_is_a_failed_reading_not_the_end_of_the_talk() -> None:
    class Broken:
        dim = 4

        def embed(self, texts: list[str], kind: str = "query") -> Any:
            raise InstrumentFailure("the embedder is down")

    config = RelationshipConfig(
        personas=("engineers",), rules=Rules(sessions=1, turns=3, reflection="turn")
    )
    task, model = ConversationTask(config), Model()
    clock = lambda _: datetime(2026, 11, 21, 12, 0)  # noqa: E731
    base = World({Chat: model, Now: clock, Embed: EmbedHandler(Broken())})
    found = run(*task.start(Where("engineers", 1), base))
    assert isinstance(found, Conversation)
    (session,) = found.sessions
    assert len(session.lines) == 3 and not model.roles("reflector")
    made = [one for moment in session.moments for one in moment.reflections]
    assert len(made) == 4
    for one in made:
        assert one.reading.vector is None and "embedder is down" in one.reading.failure
        assert one.questions == QUESTIONS


def test_a_speaker_that_fails_leaves_the_conversation_unscored() -> None:
    with pytest.raises(InstrumentFailure, match="speaker is down"):
        talk(Model(fails="speaker"), turns=2)


def test_the_clock_never_goes_back() -> None:
    clock = Clock(gap_days=0, minutes=2)
    assert clock.session(2, 5) == clock.turn(1, 4, 5) + (clock.turn(1, 1, 5) - clock.start)
    times = [clock.turn(n, t, 5) for n in (1, 2, 3) for t in range(5)]
    assert times == sorted(set(times))


def test_all_shipped_pairs_can_talk() -> None:
    assert {p.language for p in shipped().values()} == {"ja", "en"}
    assert len({p.relationship for p in shipped().values() if p.language == "ja"}) >= 4
    for pair in shipped():
        found = talk(Model(), pair, sessions=2, turns=2, reflection="turn")
        assert [len(s.lines) for s in found.sessions] == [2, 2]


def test_a_week_later_a_speaker_is_told_what_is_left_of_the_reading() -> None:
    model = Model()
    found = talk(model, sessions=2, turns=2, reflection="turn", summary=False)
    later = found.sessions[1].lines[0]
    read = found.sessions[1].moments[0].stances
    assert read["b_to_a"].reading.vector is not None
    assert later.prompt_vector is not None and later.prompt_vector.values == (2, 1, 0)
    within = found.sessions[0].lines[1]
    assert within.prompt_vector is not None and within.prompt_vector.TaskOriented == -1


def test_lite_asks_once_and_is_shown_the_latest_lines() -> None:
    model = Model()
    found = talk(model, sessions=1, turns=6, reflection="turn", procedure="lite")
    assert not model.roles("questioner") and len(model.roles("reflector")) == 7
    last = found.sessions[0].moments[-1].reflections[0]
    assert last.questions is None and "問い:" not in last.prompt
    assert {f"D1:{n}" for n in range(1, 7)} <= {ground.id for ground in last.evidence}


def test_what_is_so_of_a_persona_says_dates() -> None:
    pair = shipped()["engineers"].on(datetime(2026, 5, 1, 10))
    assert "4月30日に初めて決済まわりのプルリクエストを出した" in pair.b.facts
    relative = re.compile("きのう|昨日|今朝|来月|来週|去年|先週|yesterday|last week|next month")
    for one in shipped().values():
        on = one.on(datetime(2026, 5, 1, 10))
        told = [*on.topics, *on.a.facts, *on.b.facts]
        assert not [text for text in told if relative.search(text) or "{" in text]
