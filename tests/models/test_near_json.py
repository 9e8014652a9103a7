"""What models write for JSON is read where its meaning is sure, and refused by name where not."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from naisei.clarify.agents.hybrid import Hypotheses
from naisei.clarify.agents.llm import reply_schema
from naisei.director.schemas import ASPECTS, Scores
from naisei.intent.answering import Drafted
from naisei.intent.schemas import Evaluation
from naisei.models.replies import Garbage, Violation, read
from naisei.relationship.vector import VectorReply

DECISION = reply_schema(tuple(range(1, 41)))
GOOD = {"thought": "暑い", "choice": "execute", "question": "", "action": 39}
TEXT = json.dumps(GOOD, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        str(GOOD),
        TEXT.replace('"', "“"),
        TEXT.replace('"', "＂").replace(":", "：").replace(",", "，"),
        TEXT.replace("{", "｛").replace("}", "｝"),
        TEXT[:-1] + ",}",
        TEXT[:-1] + " // 選択\n}",
        TEXT.replace("{", "{ /* 判断 */ "),
        "```json\n{thought: '暑い', choice: execute, question: '', action: +39}\n```",
        f"[{TEXT}]",
        json.dumps(TEXT),
        f'{{"Decision": {TEXT}}}',
        f'{{"properties": {TEXT}}}',
        TEXT.replace("39", '"39"'),
        TEXT.replace("39", "３９"),
        TEXT.replace("39", '"39番"'),
        TEXT.replace("39", '"39. 窓を開ける"'),
        TEXT.replace("39", "39.0"),
        TEXT.replace("execute", "Execute"),
        TEXT.replace("execute", "実行"),
        TEXT.replace("execute", "execute（実行）"),
        TEXT.replace('""', "null"),
        TEXT.replace('""', "None").replace(" ", "\n"),
        TEXT.replace("39", "1") + "\n訂正します。\n" + TEXT,
    ],
)
def test_what_is_meant_is_read(text: str) -> None:
    assert read(text, DECISION, "ja").model_dump() == GOOD


def test_a_quotation_within_a_text_is_its_own() -> None:
    found = read(TEXT.replace("暑い", '彼は"はい"と言った'), DECISION)
    assert found.model_dump()["thought"] == '彼は"はい"と言った'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (TEXT.replace("39", "41"), "action"),
        (TEXT.replace("39", "3.5"), "action"),
        (TEXT.replace("39", '"3.5"'), "action"),
        (TEXT.replace("39", '"39か1"'), "action"),
        (TEXT.replace("39", "null"), "action"),
        (TEXT.replace("execute", "clarify/execute"), "choice"),
        (TEXT.replace("execute", "実行しない"), "choice"),
        (f'{{"却下した案": {TEXT}}}', "choice"),
    ],
)
def test_what_is_not_sure_is_refused_by_name(text: str, field: str) -> None:
    with pytest.raises(Violation) as failed:
        read(text, DECISION)
    assert any(error.startswith(f"{field}:") for error in failed.value.errors)


@pytest.mark.parametrize("text", [TEXT[:-1], str(GOOD)[:-1], "{'thought': '暑い', 'act", "{x}"])
def test_what_is_cut_off_or_no_json_is_garbage(text: str) -> None:
    with pytest.raises(Garbage):
        read(text, DECISION)


def test_of_several_that_fit_the_last_counts_and_the_log_says_so() -> None:
    notes: list[str] = []
    text = '例: {"Power": 0, "Intimacy": 0, "TaskOriented": 0}\n答え: '
    found = read(text + '{"Power": 2, "Intimacy": 1, "TaskOriented": 2}', VectorReply, "ja", notes)
    assert isinstance(found, VectorReply)
    vector = found.read().vector
    assert vector is not None and vector.values == (2, 1, 2)
    assert len(notes) == 1 and "2" in notes[0]


def scored(**other: Any) -> dict[str, Any]:
    return {**dict.fromkeys(ASPECTS, 4), "comment": "よい", "verdict": "PASS", **other}


@pytest.mark.parametrize(
    ("given", "points", "verdict"),
    [
        (scored(verdict="pass"), (4, 4, 4, 4, 4), "PASS"),
        (scored(verdict="合格"), (4, 4, 4, 4, 4), "PASS"),
        (scored(verdict="書き直し"), (4, 4, 4, 4, 4), "RETRY"),
        (scored(comment=None, topic=None, verdict=None), (4, 4, 4, 4, 4), ""),
        (
            scored(frame="４", roleplay="4/5", density="4点", connection=4.5),
            (4, 4, 5, 4, 4),
            "PASS",
        ),
        ({"scores": dict.fromkeys(ASPECTS, 4), "verdict": "WARN"}, (4, 4, 4, 4, 4), "WARN"),
        (dict.fromkeys(ASPECTS.values(), 3), (3, 3, 3, 3, 3), ""),
    ],
)
def test_a_judge_is_heard_in_its_own_words(
    given: dict[str, Any], points: tuple[int, ...], verdict: str
) -> None:
    found = read(json.dumps(given, ensure_ascii=False), Scores, "ja")
    assert isinstance(found, Scores)
    assert (found.points, found.verdict) == (points, verdict)


@pytest.mark.parametrize("value", [8, 0, -1, "8", "4/10", "80%", 5.5, True])
def test_another_scale_is_not_moved_onto_this_one(value: object) -> None:
    with pytest.raises(Violation, match="frame"):
        read(json.dumps(scored(frame=value)), Scores)


def test_every_system_reads_alike() -> None:
    answer = read('{"sentences": [{"text": "a", "sources": "1"}], "answerable": "はい"}', Drafted)
    assert isinstance(answer, Drafted) and answer.answerable
    assert answer.sentences[0].sources == (1,)
    grades = dict.fromkeys(
        ("is_question", "is_consultation", "in_internal_docs", "ask_person", "clarity"), "２"
    )
    evaluated = read(json.dumps({**grades, "move": "聞き返す", "options": None}), Evaluation)
    assert isinstance(evaluated, Evaluation)
    assert (evaluated.clarity, evaluated.move, evaluated.options) == (2, "ask", ())
    guess = [{"action": "3", "percent": "80%"}]
    text = json.dumps({"thought": "", "hypotheses": guess, "answers": ["はい", "不明"]})
    guessed = read(text, Hypotheses)
    assert isinstance(guessed, Hypotheses) and guessed.answers == ("yes", "unknown")
    assert (guessed.hypotheses[0].action, guessed.hypotheses[0].percent) == (3, 80)
    stands = read('{"力関係": "2 (やや優位)", "親密度": "＋１", "タスク指向": 0}', VectorReply)
    assert isinstance(stands, VectorReply)
    vector = stands.read().vector
    assert vector is not None and vector.values == (2, 1, 0)


class Odd(BaseModel):
    share: float = Field(ge=0, le=1)
    kind: Literal["a", "b"]


def test_numbers_that_are_not_whole_stay_so_and_ambiguous_words_stay_unread() -> None:
    assert read('{"share": "0.5", "kind": "A"}', Odd).model_dump() == {"share": 0.5, "kind": "a"}
    with pytest.raises(Violation, match="share"):
        read('{"share": 50, "kind": "a"}', Odd)
    with pytest.raises(Violation, match="kind"):
        read('{"share": 0.5, "kind": "a or b"}', Odd)
