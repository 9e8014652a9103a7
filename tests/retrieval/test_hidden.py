"""What a person cannot see is not read, and what looks so and is seen is."""

from __future__ import annotations

import pytest

from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS, Document, Unreadable
from retrieval.hidden import (
    HIDDEN_HTML,
    HIDDEN_MARKDOWN,
    KNOWN_MISSES,
    SEEN_HTML,
    SEEN_MARKDOWN,
)


def _read(name: str, part: str) -> Document:
    around = "前\n\n{}\n\n後\n" if name.endswith("md") else "{}<p>後"
    return parsed(name, around.format(part).encode(), LIMITS)


def _said(name: str, part: str) -> str:
    try:
        return _read(name, part).model_dump_json(exclude={"hidden", "meta"})
    except Unreadable:  # what stands after it is hidden as well
        return ""


def _cases(markup: list[str], markdown: list[str]) -> list[tuple[str, str]]:
    return [("a.html", part) for part in markup] + [("a.md", part) for part in markdown]


@pytest.mark.parametrize(("name", "part"), _cases(HIDDEN_HTML, HIDDEN_MARKDOWN))
def test_nobody_reads_what_nobody_sees(name: str, part: str) -> None:
    assert "秘" not in _said(name, part)


@pytest.mark.parametrize(("name", "part"), _cases(SEEN_HTML, SEEN_MARKDOWN))
def test_what_is_seen_is_read(name: str, part: str) -> None:
    assert "秘" in _said(name, part)


@pytest.mark.parametrize("part", KNOWN_MISSES)
def test_what_is_not_looked_at_is_read(part: str) -> None:
    """SECURITY.md names them. One that is found out moves to the others."""
    assert "秘" in _said("a.html", part)


def test_what_was_left_out_is_told() -> None:
    page = (
        "<style>.a{opacity:0}</style><p>前</p><p class=a>秘密<b>です</b></p>"
        "<p hidden>隠し</p><p>後<s>消し</s></p>"
    )
    told = [(one.how, one.text) for one in _read("a.html", page).hidden]
    assert told == [("opacity: 0", "秘密 です"), ("hidden", "隠し"), ("struck out", "消し")]


def test_pages_keep_the_lines_of_code() -> None:
    code = "<pre>a = 1\nb = 2</pre>"
    assert parsed("a.html", code.encode(), LIMITS).passages[0].text == "a = 1\nb = 2"
