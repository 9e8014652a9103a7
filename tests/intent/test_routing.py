"""The six cases, exactly as the article has them; what is a grade and what is not."""

import itertools

import pytest
from pydantic import ValidationError

from naisei.intent.routing import route
from naisei.intent.schemas import Evaluation, Thresholds

NAMES = ("clarity", "is_question", "is_consultation", "in_internal_docs", "ask_person")


def graded(*grades, missing="", worry=""):
    given = dict(zip(NAMES, grades, strict=True))
    return Evaluation(**given, ask_missing_info=missing, res_consultation=worry)


def article(e):
    """The article's code, written down again branch by branch."""
    consulting = e.is_consultation <= 2
    if e.clarity != 1:
        if e.res_consultation and consulting:
            return 1, "ask", e.res_consultation
        if e.ask_missing_info and e.is_question <= 2:
            return 2, "ask", e.ask_missing_info
        return 3, "search", ""
    if consulting and e.in_internal_docs <= 2:
        return 4, "search", ""
    if consulting and e.res_consultation:
        return 5, "ask", e.res_consultation
    return 6, "search", ""


def test_every_evaluation_goes_where_the_articles_code_sends_it():
    grades = range(1, 6)
    for c, q, k, d in itertools.product(grades, repeat=4):
        for missing, worry in itertools.product(("", "m"), ("", "w")):
            e = graded(c, q, k, d, 3, missing=missing, worry=worry)
            found = route(e)
            assert (found.case, found.action, found.question) == article(e)


def test_thresholds_move_the_cuts():
    unclear = graded(2, 1, 5, 1, 5, missing="m")
    assert route(unclear).case == 2
    assert route(unclear, Thresholds(clarity=2)).case == 6
    assert route(graded(3, 3, 5, 1, 5, missing="m"), Thresholds(is_question=3)).case == 2


@pytest.mark.parametrize("bad", [0, 6, "高い", None, True, 1.5, [], {}])
def test_what_is_no_grade(bad):
    with pytest.raises(ValidationError):
        graded(bad, 1, 1, 1, 1)


def test_what_is_no_question():
    with pytest.raises(ValidationError):
        graded(3, 1, 5, 1, 5, missing="あ" * 1001)


@pytest.mark.parametrize("nothing", ["", "  ", None, "なし", "特になし。", "N/A", "「なし」", "-"])
def test_texts_that_mean_nothing_to_ask(nothing):
    e = graded(3, 1, 5, 1, 5, missing=nothing)
    assert e.ask_missing_info == ""
    assert route(e).case == 3
