"""Errors and notes of R-Clarify in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import Wrong, said_in_both
from naisei.clarify.data import load
from naisei.clarify.data.records import load_actions
from naisei.clarify.person import Person
from naisei.clarify.system import RUN
from naisei.cli.flags import configurations
from naisei.lang import speaking

_ROWS, _SET = Path("rows.jsonl"), Path("actions.jsonl")
_LINE = "write one JSON object a line (JSONL), or one JSON array of objects"
_SHAPE = 'each action needs an "id" (a whole number from 1) and a "text"'


def _data(text: str) -> Callable[[], object]:
    def read() -> object:
        _ROWS.write_text(text, "utf-8")
        return load(_ROWS)

    return read


def _actions(text: str) -> Callable[[], object]:
    def read() -> object:
        _SET.write_text(text, "utf-8")
        return load_actions(_SET)

    return read


_WRONG: tuple[Wrong, ...] = (
    (_data(" "), "the file is empty", "give a file with data"),
    (_data('{"utterance": 1'), "this line is no JSON at column 16: Expecting ',' delimiter", _LINE),
    (_data("[3]"), "an object is wanted here, not int", _LINE),
    (_data('{"gold": 3}'), "the field 'utterance' is missing",
     "keys of a row: id, scene, utterance, user, surroundings, gold, plausible, also, facts, "
     "ambiguity, speaker, split, language; utterance and gold are needed"),
    (_data('{"utterance": "a", "gold": 99}'), "unknown action 99 in 'gold'",
     "the action set 'ambigact40' has the ids 1 to 40 (40 actions); another set can be given "
     "with --actions"),
    (lambda: load("x:y"), "'x' is no registered data set; there is no such file or folder",
     "give a path, or one of: ambigact40-hard, ambigact40-hard-en, ambigact40-open, "
     "ambigact40-open-en, arta"),
    (lambda: load("arta:."), "there are no rows",
     "arta:PATH wants rows with utterance, category, response, function (and multilabel)"),
    (_actions('{"id": 0, "text": "a"}'), "'0' is no action id", _SHAPE),
    (_actions('{"id": 1, "text": "a"}'), "at least two actions are needed", _SHAPE),
    (lambda: configurations(RUN, agent=["bayes"], agent_option=["deep=1"]),
     "unknown setting 'deep'", "known: weights"),
    (lambda: Person.load("a/b", Path()), "'a/b' cannot be a user's name",
     "use up to 64 letters, digits, spaces and . _ - @"),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)


def test_the_notes_under_the_tables_are_said_in_both_languages(english: Path) -> None:
    _ROWS.write_text('{"utterance": "a", "gold": 3, "mood": 1}', "utf-8")
    assert load(_ROWS).notes == ("keys that were not read: mood (1×)",)
    with speaking("ja"):
        assert load(_ROWS).notes == ("使わなかったキー: mood (1×)",)
