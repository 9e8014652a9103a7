"""Corpora: what is read out of a page, where it stood, and what becomes of it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.core import InputError
from naisei.emphasis.corpus.html import read_html
from naisei.emphasis.corpus.read import article_of
from naisei.emphasis.corpus.store import describe, folds, load_corpus, save_corpus
from naisei.emphasis.schemas import Article, Sentence, Token


def emphasised(page: str) -> list[str]:
    article = article_of("a", read_html(page))
    return [t.surface for s in article.sentences for t in s.tokens if t.label]


def texts(page: str) -> list[str]:
    return [block.text for block in read_html(page).blocks]


def test_emphasis_is_that_of_the_page() -> None:
    page = "<p>猫は<strong>とても</strong>眠い。犬は<b>元気</b>で、鳥は<em>歌う</em>。</p>"
    assert emphasised(page) == ["とても", "元気", "歌う"]


def test_code_links_headings_and_tables_are_no_targets() -> None:
    page = (
        "<title>題</title><h2><b>見出し</b></h2><table><tr><td><b>表</b></td></tr></table>"
        "<pre><b>code</b></pre><p><a href='x'><b>外</b></a>と<code><b>ls</b></code>と"
        "<b>猫</b>。</p>"
    )
    assert emphasised(page) == ["猫"]
    assert texts(page) == ["外とlsと猫。"]
    labels = {
        t.surface: t.label for s in article_of("a", read_html(page)).sentences for t in s.tokens
    }
    assert labels["外"] is labels["ls"] is None
    assert labels["と"] is False


def test_bold_by_style_readings_and_templates() -> None:
    page = (
        "<p><SPAN style='font-weight: bold'>猫</SPAN>と<ruby>鳥<rp>(</rp><rt>とり</rt></ruby>と"
        "{{ <b>変数</b> }}と<?php echo $a->b('<b>x</b>'); ?>犬。"
    )
    (block,) = read_html(page).blocks
    assert block.text == "猫と鳥と{{ <b>変数</b> }}と犬。"
    assert [c for c, b in zip(block.text, block.bold, strict=True) if b] == ["猫"]
    fixed = "".join(c for c, f in zip(block.text, block.fixed, strict=True) if f)
    assert fixed == "鳥{{ <b>変数</b> }}"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>窓の名</title><h1>本当の<em>題</em></h1><p>文。</p>", "本当の題"),
        ("<title>窓 &amp; 名</title><h1>一</h1><h1>二</h1>", "窓 & 名"),
        ("<h2>最初</h2><h2>次</h2>", "最初"),
        ("<p>題はない。</p>", ""),
    ],
)
def test_title(page: str, title: str) -> None:
    assert read_html(page).title == title


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>猫の<b>犬</p><p>鳥</b>の", ["犬"]),
        ("<p>猫の</b>犬の<b>鳥", ["鳥"]),
        ("<p>猫の<b>犬<i>の</b>鳥</i>", ["犬", "の"]),
        ("<p>一<!-- <b>二</b> -->三", []),
        ("<p>a < b<b>三</b>", ["三"]),
        ("<p>一</p><script>'<b>二</b>'", []),
        ("", []),
        # End tags that may be, or often are, missing.
        ("<h1>題<p>猫の<b>犬</b>。", ["犬"]),
        ("<head><meta><p>猫の<b>犬</b>。", ["犬"]),
        ("<head><title>題<p>猫の<b>犬</b>。", ["犬"]),
        ("<dl><dt><b>語</b><dd>猫の<b>犬</b>。<dt><b>語</b></dl>猫の<b>鳥</b>。", ["犬", "鳥"]),
        ("<figure><figcaption><b>図</b>の題</figcaption></figure><p>猫の<b>犬</b>。", ["犬"]),
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(page: str, expected: list[str]) -> None:
    assert emphasised(page) == expected


#: What pages are made of, and broken with.
PIECES = [
    *'猫犬。「」 \r\n<>&\ufeff𠮷"',
    *("<b>", "</b>", "<p>", "<pre>", "</pre>", "<a href=x>", "</a>", "<td>", "<title>"),
    *("&amp;", "&lt;", "<!--", "-->", "{{", "}}", "<rt>", "</rt>", "<?php", "?>"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_every_character_is_where_it_is_said_to_be(pieces: list[str]) -> None:
    page = "".join(pieces)
    last = 0
    for block in read_html(page).blocks:
        for character, start, end in zip(block.text, block.starts, block.ends, strict=True):
            assert last <= start < end <= len(page)
            last = end
            source = page[start:end]
            assert source == character or source.startswith("&") or character == " "


def test_a_sentence_of_50_000_characters() -> None:
    page = "<p>" + "猫と犬と" * 12_500 + "<b>鳥</b></p>"
    article = article_of("a", read_html(page))
    assert len(article.sentences) == 1
    assert "".join(t.surface for t in article.sentences[0].tokens) == "猫と犬と" * 12_500 + "鳥"
    assert article.sentences[0].labels[-1]


def test_tokens_stand_in_their_block() -> None:
    page = "<p>一つ目。二つ<b>目</b>。</p><p>別の段落。</p>"
    parsed = read_html(page)
    article = article_of("a", parsed)
    assert [(s.block, s.index, s.text) for s in article.sentences] == [
        (0, 0, "一つ目。"),
        (0, 1, "二つ目。"),
        (1, 2, "別の段落。"),
    ]
    for sentence in article.sentences:
        for token in sentence.tokens:
            assert parsed.blocks[sentence.block].text[token.start : token.end] == token.surface


def test_what_is_kept_is_what_was_read(tmp_path: Path) -> None:
    page = "<h1>題</h1><p>猫は<b>眠い</b>と<code>ls</code>。</p>"
    kept = (article_of("a", read_html(page)), Article("b", "", ()))
    save_corpus(tmp_path / "c.jsonl", kept)
    assert load_corpus(tmp_path / "c.jsonl") == kept


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"id": "a"}',
        '{"id":"a","title":"","sentences":[]}\n' * 2,
        '{"id":"a","title":"","sentences":[{"text":"x","block":0,"tokens":[["x",1,0,"","",1]]}]}',
    ],
)
def test_a_corpus_that_is_none_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "c.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"c\.jsonl"):
        load_corpus(tmp_path / "c.jsonl")


def made(sizes: list[int]) -> list[Article]:
    token = Token("猫", 0, 1, "名詞", "猫", True)
    other = Token("犬", 1, 2, "名詞", "犬", False)
    fixed = Token("x", 2, 3, "名詞", "x", None)
    return [
        Article(
            str(n), "", tuple(Sentence("猫犬x", (token, other, fixed), 0, i) for i in range(size))
        )
        for n, size in enumerate(sizes)
    ]


def test_statistics() -> None:
    said = describe(made([1, 3]))
    assert (said.articles, said.sentences, said.tokens, said.emphasised) == (2, 2, 6, 2)
    assert said.rate == 0.5
    assert math.isnan(describe(made([0])).rate)
    with pytest.raises(InputError):
        describe([])


@given(st.lists(st.integers(0, 30), min_size=5, max_size=20), st.integers(0, 60))
def test_folds_hold_every_sentence_once(sizes: list[int], dev: int) -> None:
    articles = made(sizes)
    split = folds(articles, dev=dev)
    assert [a.id for fold in split for a in fold.test] == [a.id for a in articles]
    for fold in split:
        parts = (fold.train, fold.dev, fold.test)
        seen = [(a.id, s.index) for part in parts for a in part for s in a.sentences]
        assert len(seen) == len(set(seen)) == sum(sizes)
        rest = sum(len(a.sentences) for part in parts[:2] for a in part)
        assert sum(len(a.sentences) for a in fold.dev) == min(dev, rest // 2)
        assert not {a.id for a in fold.test} & {a.id for part in parts[:2] for a in part}
        assert [a.id for a in fold.train] == sorted((a.id for a in fold.train), key=int)


def test_too_few_articles_to_split() -> None:
    with pytest.raises(InputError, match="4"):
        folds(made([1, 1, 1, 1]))


def test_a_word_of_two_kinds_is_what_half_of_it_is() -> None:
    assert emphasised("<p><b>東</b>京に</p>") == ["東京"]
    assert emphasised("<p><b>あ</b>りがとう。</p>") == []
