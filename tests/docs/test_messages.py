"""The catalogue of messages: each is Japanese and English, and both say the same things.

Tests of what a message is about ask for names, places and figures in it; what it says in words
is checked here only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import naisei

ROOT = Path(naisei.__file__).parent


def messages() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def parts(text: ast.expr) -> tuple[str, int]:
    """The words, and how many values are put in (no plural, nor the words of pydantic)."""
    inner = ast.walk(text)
    words = "".join(n.value for n in inner if isinstance(n, ast.Constant) and type(n.value) is str)
    put = {ast.unparse(n.value) for n in getattr(text, "values", ()) if hasattr(n, "conversion")}
    return words, len([value for value in put if "msg" not in value and "'s' *" not in value])


CATALOGUE = [
    (place, call.args)
    for place, call in messages()
    if all(isinstance(a, ast.Constant | ast.JoinedStr) for a in call.args)
]
#: What is typed or stands in files is the same in both.
_TYPED = re.compile(
    r"「[^」]*」|『[^』]*』|\"[^\"]*\"|`[^`]*`|(?:naisei|pip) [a-z\- ]+|\([^)]*\)|--\S+ \S+|\S*,\S*"
)


def test_there_is_a_catalogue() -> None:
    assert len(CATALOGUE) > 500
    assert all(len(args) == 2 for _, args in CATALOGUE)


def test_each_message_is_in_its_language() -> None:
    wrong = [
        place
        for place, (ja, en) in CATALOGUE
        if re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", _TYPED.sub("", parts(ja)[0]))
        or re.search(r"[ぁ-んァ-ヶ一-龠]", _TYPED.sub("", parts(en)[0]))
    ]
    assert wrong == []


def test_both_languages_are_given_the_same_values() -> None:
    wrong = [place for place, (ja, en) in CATALOGUE if parts(ja)[1] != parts(en)[1]]
    assert wrong == []
