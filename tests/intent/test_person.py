"""What is known of the person, and what they said of the replies, changes what they get."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent.corpus import write_index
from naisei.core import Evidence, World, run
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import document_world
from naisei.intent.feedback import Feedback, adjusted, read_feedback, standing, write_feedback
from naisei.intent.flow import assist
from naisei.intent.inquiry import reply_in_memory
from naisei.intent.messages import evaluator_messages
from naisei.intent.routing import extend
from naisei.intent.rules import Profile, Rules, Setting
from naisei.intent.schemas import Evaluation, Thresholds
from naisei.retrieval.index import Index

SIGNS = ("good", "bad", "too-much", "too-little", "undo", "reset")
OFFICES = {
    "sendai.md": "# 駐車場（仙台）\n\n## 料金\n\n駐車場の料金は月8千円です。\n",
    "yokohama.md": "# 駐車場（横浜）\n\n## 料金\n\n駐車場の料金は月1万円です。\n",
}


def lines(*signs, asked=0):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [Feedback(sign=sign, at=at, asked=asked) for sign in signs]


@pytest.fixture(scope="module")
def offices(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("offices"), OFFICES, None)


@given(st.lists(st.sampled_from(SIGNS), max_size=20), st.integers(1, 5), st.integers(1, 5))
def test_feedback_moves_within_bounds_and_reset_takes_all_back(signs, clarity, question):
    base = Thresholds(clarity=clarity, is_question=question)
    now = adjusted(base, lines(*signs))
    for name in ("clarity", "is_question", "is_consultation"):
        assert 1 <= getattr(now, name) <= max(4, getattr(base, name))
    assert adjusted(base, [*lines(*signs), *lines("reset")]) == base


@given(st.lists(st.sampled_from(SIGNS[:4]), max_size=10), st.sampled_from(SIGNS[:4]))
def test_undo_takes_exactly_the_last_back(signs, last):
    before = lines(*signs)
    after = [*before, *lines(last), *lines("undo")]
    assert standing(after) == standing(before)
    assert adjusted(Thresholds(), after) == adjusted(Thresholds(), before)


def test_each_sign_does_what_it_says():
    base = Thresholds()
    assert adjusted(base, lines("too-much")).clarity == 2
    little = adjusted(base, lines("too-little"))
    assert (little.clarity, little.is_question, little.is_consultation) == (1, 3, 3)
    assert adjusted(base, lines("bad", "bad")) == little
    assert adjusted(base, lines("bad", "good", "bad")) == base
    assert adjusted(base, lines("bad", "bad", asked=1)) == base


def test_the_log_keeps_every_line(tmp_path):
    path = tmp_path / "p" / "me.jsonl"
    for sign in SIGNS:
        write_feedback(path, sign, about="休暇\nについて")
    assert [line.sign for line in read_feedback(path)] == list(SIGNS)


def test_who_was_asked_too_much_is_asked_less(offices, tmp_path, monkeypatch):
    monkeypatch.setenv("NAISEI_DATA", str(tmp_path))
    config = AssistConfig(index=str(offices), user="busy")
    other = AssistConfig(index=str(offices), user="other")
    vague = Dialogue(utterance="駐車場について")
    with Index.open(offices) as index:
        assert reply_in_memory(config, index, vague).route == "ask"
        for _ in range(3):
            write_feedback(tmp_path / "feedback" / "busy.jsonl", "too-much")
        assert reply_in_memory(config, index, vague).route == "search"
        assert reply_in_memory(other, index, vague).route == "ask"


def test_the_profile_is_told_to_the_evaluator_and_prefers_what_names_it(offices):
    question = Dialogue(utterance="駐車場の料金は月いくらですか")
    first = {}
    for office in ("仙台", "横浜"):
        setting = Setting(profile=Profile(office=office), rules=Rules(asking=False))
        told = evaluator_messages(question, setting)[-1].content
        assert f"office: {office}" in str(told)
        with Index.open(offices) as index:
            reply = run(assist(question, setting), document_world(World({}), index))
        first[office] = reply.citations[0].path
    assert first == {"仙台": "sendai.md", "横浜": "yokohama.md"}


def test_a_profile_leaves_nothing_out():
    hits = [
        Evidence(id=str(n), text=text, score=1.0, meta={})
        for n, text in enumerate(["本社の話", "横浜の話", "その他"])
    ]
    preferred = Profile(office="横浜").prefer(hits)
    assert [h.id for h in preferred] == ["1", "0", "2"]
    assert Profile().prefer(hits) == hits


def test_extended_cases_are_on_only_by_name():
    for docs, person in itertools.product(range(1, 6), repeat=2):
        e = Evaluation(
            clarity=1, is_question=1, is_consultation=5, in_internal_docs=docs, ask_person=person
        )
        assert extend(e, Thresholds()) is None
        both = Thresholds(extended=frozenset({"needs_person", "out_of_scope"}))
        wanted = None if docs < 4 else "needs_person" if person <= 2 else None
        wanted = "out_of_scope" if docs >= 4 and person >= 4 else wanted
        assert extend(e, both) == wanted


def test_a_greeting_is_answered_only_where_that_is_on(offices):
    with Index.open(offices) as index:
        world = document_world(World({}), index)
        on = Rules(thresholds=Thresholds(extended=frozenset({"greeting"})))
        hello = Dialogue(utterance="こんにちは！")
        assert run(assist(hello, Setting(rules=on)), world).extended == "greeting"
        assert run(assist(hello, Setting()), world).extended is None
        asked = Dialogue(utterance="こんにちは。駐車場の料金は？")
        assert run(assist(asked, Setting(rules=on)), world).extended is None
