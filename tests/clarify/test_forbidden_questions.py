"""Forbidden questions: presence of things, and the wanted action outright."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.clarify.data import load_actions
from naisei.clarify.forbidden_questions import broken_rule
from naisei.clarify.schemas import Action, ActionSet
from naisei.clarify.things import objects

ACTIONS = load_actions()
ROWS = [
    line.split("\t")
    for name in ("offence.txt", "offence_late.txt")
    for line in (Path(__file__).parent / "battery" / name).read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("kind", ["presence", "outright"])
def test_precision_and_recall_on_labelled_questions(kind: str) -> None:
    found = {q for _, q in ROWS if broken_rule(q, ACTIONS) == kind}
    true = {q for label, q in ROWS if label == kind}
    assert len(ROWS) >= 80
    assert len(found & true) / len(found) >= 0.95, found - true
    assert len(found & true) / len(true) >= 0.95, true - found


def test_fair_questions_pass() -> None:
    fair = [q for label, q in ROWS if label == "fair"]
    stopped = [q for q in fair if broken_rule(q, ACTIONS)]
    assert len(stopped) / len(fair) <= 0.05, stopped


def test_english_action_sets() -> None:
    english = load_actions(language="en")
    assert broken_rule("Shall I bring the remote control?", english) == "outright"
    assert broken_rule("Do you want to watch television?", english) is None


def test_other_action_sets_are_read_from_their_texts() -> None:
    some = ActionSet(name="garage", actions=(Action(id=1, text="ドライバーを持ってくる"),))
    assert objects(some.text(1)) == ("ドライバー",)
    assert broken_rule("ドライバーを持ってきましょうか？", some) == "outright"
    assert broken_rule("コップを洗いましたか？", some) is None


def test_nothing_asked_is_no_offence() -> None:
    assert broken_rule("", ACTIONS) is None
    assert broken_rule("わかりました。", ACTIONS) is None
