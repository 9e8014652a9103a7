"""Errors of the director in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import Wrong, said_in_both
from naisei.director import Gate, load_character
from naisei.director.character import shipped
from naisei.director.faults import faults
from naisei.director.report import script_lines
from naisei.director.scripts import Speakers, read_lines

_NOTHING = Path("nothing.toml")
_CHECK = "check the path and its permissions"


def _lines(text: str) -> Callable[[], object]:
    return lambda: read_lines(text, "stdin", Speakers())


_WRONG: tuple[Wrong, ...] = (
    (lambda: load_character("nobody"), "unknown character 'nobody'",
     "use one of " + ", ".join(c.id for c in shipped()) + ", or a .toml file or a character card"),
    (lambda: load_character(_NOTHING), "no such file", _CHECK),
    (lambda: faults(_NOTHING), "no such file", _CHECK),
    (lambda: script_lines("nothing.toml", Speakers()), "no such file",
     "name a file, or - for standard input"),
    (_lines("{"), "is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 "
     "(char 1)", 'write one object a row: {"speaker": "…", "text": "…"}'),
    (_lines('{"text": "a", "history": 1}'), "history is no list of texts",
     'write "history": ["…", "…"], oldest first, or leave it out'),
    (_lines("speaker,text\nyana"), "has 1 cells under a head of 2",
     'put a text with commas, quotes or line ends in quotes: "…", "" for "'),
    (_lines("a"), "no speaker is named", "begin the line with a name (やな: …), give a speaker, or "
     "say who speaks by --character"),
    (lambda: Gate(character="yana", policy="person"), "the policy `person` needs a function to ask",
     "give a function from the question to a line"),
    (lambda: Gate(character="yana", retries=-1), "must be 0 or more, not -1", ""),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)
