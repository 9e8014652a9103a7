"""Errors of relationship reflection in the reader's language."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import KANA, Wrong, said_in_both
from naisei.lang import speaking
from naisei.relationship.labelled import read_labelled
from naisei.relationship.locomo import read_locomo
from naisei.relationship.pairs import PersonasOptions, personas_command, shipped
from naisei.relationship.plot import draw
from naisei.relationship.recall import write_csv

_NOTHING = Path("nothing.jsonl")
_LOCOMO = "give a file as LoCoMo publishes it: locomo10.json, or the zip of one JSON a conversation"


def _file(read: Callable[[Path], object], text: str) -> Callable[[], object]:
    def do() -> object:
        path = Path("file.jsonl")
        path.write_text(text, "utf-8")
        return read(path)

    return do


_WRONG: tuple[Wrong, ...] = (
    (lambda: personas_command(PersonasOptions(name="nobody")),
     "unknown pair 'nobody'", f"use one of {', '.join(shipped())}"),
    (lambda: read_labelled(_NOTHING), "no such file",
     "check the path and its permissions"),
    (_file(read_labelled, ""), "no dialogues", "give at least one"),
    (_file(read_labelled, "{"), "this line is no JSON: Expecting property name enclosed in double "
     "quotes: line 1 column 2 (char 1)", "write one JSON object a line"),
    (_file(read_locomo, "[]"), "holds no conversation", _LOCOMO),
    (_file(read_locomo, "[1]"), "no object with a conversation (`session_1`, …)", _LOCOMO),
    (_file(read_locomo, '[{"conversation": {}}]'), "no utterance in session_1, session_2, …",
     _LOCOMO),
    (lambda: draw([], [Path("a.xyz")]), "no picture format '.xyz'", "end the name in .png, .svg, "
     ".pdf"),
    (lambda: write_csv([], [], Path("/dev/null")), "cannot be written: a part of the path is "
     "a file", "name another place"),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)


def test_what_was_mended_or_left_out_is_said_in_both_languages(english: Path) -> None:
    talk = {"session_1": [{"speaker": "A", "text": "やあ"}, {"speaker": "B"}], "session_2": 1}
    path = Path("talks.json")
    path.write_text(json.dumps([{"sample_id": "s", "conversation": talk}]), "utf-8")
    assert read_locomo(path)[0].notes == [
        "s session_1: no readable date and time; taken as 1970-01-01 00:00:00",
        "s session_1[0]: no dia_id; taken as D1:1",
        "s session_1[1]: no text; left out",
        "s session_2: no list of turns; left out",
        "s: no question",
    ]
    with speaking("ja"):
        notes = read_locomo(path)[0].notes
    assert [note.partition(": ")[0] for note in notes] == [
        "s session_1", "s session_1[0]", "s session_1[1]", "s session_2", "s"
    ]  # fmt: skip
    assert all(KANA.search(note) for note in notes[:-1]) and notes[-1] == "s: 質問なし"
