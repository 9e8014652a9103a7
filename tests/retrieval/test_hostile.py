"""Files made to be slow or large: refused or read, and never with a crash."""

import contextlib

import pytest

from naisei.retrieval.load import parsed
from naisei.retrieval.loaders.markdown import read_markdown
from naisei.retrieval.types import LIMITS, LoadLimits, Unreadable
from retrieval.slow_files import SLOW

_PAGE = "<h1>旅費</h1><p>日当は出張の翌月に支払う。</p>"


@pytest.mark.parametrize("name", SLOW)
def test_what_is_made_to_be_slow_ends(name: str) -> None:
    """How soon is measured by `benchmarks/bounds.py`."""
    with contextlib.suppress(Unreadable):
        parsed(name.partition(":")[0], SLOW[name].encode(), LIMITS)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<p>a" * 30_000),
        ("a.md", "a\n\n" * 30_000),
        ("a.txt", "あ\n\n" * 30_000),
        ("a.html", f"<table><tr><td rowspan=900>{'あ' * 2000}</td>" + "<tr><td>い" * 900),
    ],
)
def test_what_swells_is_too_long(name: str, text: str) -> None:
    with pytest.raises(Unreadable, match="200,000"):
        parsed(name, text.encode(), LoadLimits(characters=200_000))


def test_deep_pages_are_refused_and_long_drawings_read() -> None:
    with pytest.raises(Unreadable):
        parsed("a.html", (_PAGE + "<section>" * 2500).encode(), LIMITS)
    drawing = "<svg>" + '<path d="M0 0"/>' * 5000 + "</svg>" + '<a name="x"/>' * 3000
    text = parsed("a.html", (drawing + _PAGE).encode(), LIMITS).passages[0].text
    assert text == "日当は出張の翌月に支払う。"


def test_links_are_their_words() -> None:
    line = "[![図](a.png)](b) と [規程](x_(y).html)、[注] (案)、[a](b"
    assert read_markdown(line, 1000).passages[0].text == "と 規程、[注] (案)、[a](b"


def test_a_long_header_is_not_repeated() -> None:
    head, rows = "| " + "見" * 900 + " |\n|---|\n", "| 行 |\n" * 50
    passages = read_markdown(head + rows, 100_000).passages
    assert len(passages) == 51 and all(p.header == "" for p in passages)
