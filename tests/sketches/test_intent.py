"""Sketch of the intent-first assistant on the core: weigh, ask or search, rewrite, answer.

Source: the intent-aware RAG article: five indicators from 1 (high) to 5, six cases, a
question rewritten from the dialogue. The budget of questions is ours.
"""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from naisei.core import AskUser, Chat, Evidence, Flow, Message, Say, Search, assistant, play, user

Grade = Annotated[int, Field(ge=1, le=5)]


class Weighed(BaseModel):
    clarity: Grade
    is_question: Grade
    is_consultation: Grade
    in_documents: Grade
    ask_person: Grade
    missing: str = ""
    concern: str = ""


Case = Literal[1, 2, 3, 4, 5, 6]

# --- the sketch ----------------------------------------------------------------------


def route(w: Weighed) -> tuple[Case, str]:
    """The case of the article, and the question to ask; none means: search."""
    if w.clarity != 1:
        if w.concern and w.is_consultation <= 2:
            return 1, w.concern
        if w.missing and w.is_question <= 2:
            return 2, w.missing
        return 3, ""
    if w.is_consultation <= 2:
        if w.in_documents <= 2:
            return 4, ""
        if w.concern:
            return 5, w.concern
    return 6, ""


def understand(utterance: str, budget: int) -> Flow[tuple[str, list[Case], Weighed]]:
    """The question to search for, the cases on the way, and the last weighing."""
    said: list[Message] = [user(utterance)]
    cases: list[Case] = []
    while True:
        weighed = yield from Chat("evaluator", said, Weighed)
        case, question = route(weighed)
        cases.append(case)
        if not question or len(cases) > budget:
            break
        said += [assistant(question), user((yield from AskUser(question)))]
    if len(said) == 1:
        return utterance, cases, weighed
    rewritten = yield from Chat("rewriter", [m for m in said if m.role == "user"])
    return rewritten, cases, weighed


def assist(utterance: str, *, budget: int = 3) -> Flow[list[Case]]:
    query, cases, weighed = yield from understand(utterance, budget)
    found = yield from Search(query, k=3, source="documents")
    if not found:
        yield from Say("資料が見つかりません。担当者に尋ねてください。")
        return cases
    grounds = "\n".join(f"[{e.id}] {e.text}" for e in found)
    answer = yield from Chat("answerer", [user(f"{query}\n{grounds}")])
    hint = "\n担当者にも確認してください。" if weighed.ask_person <= 2 else ""
    yield from Say(answer + hint, meta={"cited": [e.id for e in found]})
    return cases


# --- the tests -----------------------------------------------------------------------


def weighed(*grades: int, missing: str = "", concern: str = "") -> Weighed:
    names = ("clarity", "is_question", "is_consultation", "in_documents", "ask_person")
    return Weighed(**dict(zip(names, grades, strict=True)), missing=missing, concern=concern)


SIX: list[tuple[Weighed, tuple[int, str]]] = [
    (weighed(3, 1, 2, 5, 5, missing="m", concern="c"), (1, "c")),
    (weighed(3, 1, 5, 1, 5, missing="m", concern="c"), (2, "m")),
    (weighed(2, 1, 2, 1, 3), (3, "")),
    (weighed(1, 5, 1, 2, 5, concern="c"), (4, "")),
    (weighed(1, 5, 2, 3, 5, concern="c"), (5, "c")),
    (weighed(1, 1, 5, 1, 5, missing="m", concern="c"), (6, "")),
    (weighed(1, 5, 1, 4, 5), (6, "")),
    (weighed(2, 3, 3, 1, 5, missing="m", concern="c"), (3, "")),
]
CLEAR = weighed(1, 1, 5, 1, 5)
FOUND = [Evidence(id="d1", text="看護休暇は年五日", score=1.0)]


@pytest.mark.parametrize(("grades", "expected"), SIX)
def test_the_six_cases(grades: Weighed, expected: tuple[int, str]) -> None:
    assert route(grades) == expected


def test_a_clear_question_goes_straight_to_the_documents_as_it_is() -> None:
    played = play(assist("有休の申請方法は？"), [CLEAR, FOUND, "申請は…", None])
    assert played.result == [6]
    assert [type(e) for e in played.effects] == [Chat, Search, Chat, Say]
    assert played.effects[1] == Search("有休の申請方法は？", k=3, source="documents")
    assert played.effects[-1].meta == {"cited": ["d1"]}  # type: ignore[attr-defined]


def test_a_vague_question_is_asked_about_and_rewritten_without_the_assistants_words() -> None:
    vague = weighed(3, 1, 5, 1, 5, missing="何の休暇ですか？")
    script = [vague, "子どもの看護", CLEAR, "看護休暇は取れますか", FOUND, "取れます", None]
    played = play(assist("休暇について"), script)
    assert played.result == [2, 6]
    asked, rewriting = played.effects[1], played.effects[3]
    assert asked == AskUser("何の休暇ですか？")
    assert isinstance(rewriting, Chat)
    assert [m.content for m in rewriting.messages] == ["休暇について", "子どもの看護"]
    assert played.effects[4] == Search("看護休暇は取れますか", k=3, source="documents")


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_the_budget_of_questions_is_kept(budget: int) -> None:
    vague = weighed(4, 1, 5, 1, 1, missing="もう少し？")
    rewrite: list[Any] = ["まとめ"] if budget else []
    script = [vague, *["うーん", vague] * budget, *rewrite, FOUND, "答え", None]
    played = play(assist("あれ", budget=budget), script)
    assert sum(isinstance(e, AskUser) for e in played.effects) == budget
    say = played.effects[-1]
    assert isinstance(say, Say) and "担当者にも" in say.text


def test_nothing_found_is_said_not_invented() -> None:
    played = play(assist("社長の好物は？"), [CLEAR, [], None])
    assert not any(isinstance(e, Chat) and e.role == "answerer" for e in played.effects)
