"""Books in articles, and what is a heading though no tag says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from naisei.emphasis.corpus.documents import Heading, cut, unnumbered
from naisei.emphasis.corpus.html import read_html


def book(*sizes: tuple[int, int]) -> str:
    """Level of a heading and number of sentences below it."""
    parts = [
        f"<h{level}>{level}.{n}. 節{n}</h{level}>" + f"<p>{n}番の文です。</p>" * size
        for n, (level, size) in enumerate(sizes)
    ]
    return "<title>本</title><p>はじめに。</p>" + "".join(parts)


def test_a_short_document_stays_whole() -> None:
    parsed = read_html(book((2, 1), (2, 1)))
    assert cut(parsed) == [parsed]


def test_a_book_is_cut_at_its_highest_headings_and_long_chapters_again() -> None:
    parts = cut(read_html(book((2, 2), (2, 1), (3, 5), (3, 5), (2, 3))), longest=40)
    assert [(p.title, len(p.blocks)) for p in parts] == [
        ("本", 1), ("節0", 2), ("節1", 1), ("節2", 5), ("節3", 5), ("節4", 3),
    ]  # fmt: skip


def test_what_has_no_headings_stays_whole() -> None:
    assert len(cut(read_html("<p>文です。</p>" * 50), longest=10)) == 1


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), max_size=12), st.integers(1, 80))
def test_cutting_loses_and_doubles_nothing(sizes: list[tuple[int, int]], longest: int) -> None:
    parsed = read_html(book(*sizes))
    parts = cut(parsed, longest=longest)
    assert tuple(block for part in parts for block in part.blocks) == parsed.blocks
    for part in parts:
        assert all(0 <= heading.block <= len(part.blocks) for heading in part.headings)


def test_numbers_of_headings() -> None:
    assert unnumbered("第 12 章. 起動") == "起動"
    assert unnumbered("4.2.1. 起動") == "起動"
    assert unnumbered("2024 年の話") == "2024 年の話"


def test_headings_are_read_in_order() -> None:
    page = "<h1>一<a href='#'>¶</a></h1><p>文。</p><h2>二 &amp; 三</h2><h3></h3><p>文。</p>"
    assert read_html(page).headings == (
        Heading(1, "一", 0), Heading(2, "二 & 三", 1), Heading(3, "", 1),
    )  # fmt: skip


def test_a_caption_in_bold_is_no_emphasis() -> None:
    page = "<p><b>図 1. 全体</b></p><p><b>必ず読むこと。</b></p><p><b>注意</b>する。</p>"
    assert [block.text for block in read_html(page).blocks] == ["必ず読むこと。", "注意する。"]
