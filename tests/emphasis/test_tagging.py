"""Suggestions in documents: every other byte stays, and the marks mean what they should."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.corpus.documents import BlockBuilder, ParsedText
from naisei.emphasis.corpus.html import read_html
from naisei.emphasis.corpus.markdown import read_markdown
from naisei.emphasis.corpus.read import Format, read_bytes
from naisei.emphasis.schemas import Article
from naisei.emphasis.tag import marked, suggest


class Dice:
    """Chooses words by a seed; of probability 0.9, the others 0.1."""

    name = "dice.v1"

    def __init__(self, seed: int, share: float = 0.4) -> None:
        self.seed, self.share = seed, share

    def labels(self, article: Article) -> list[list[bool]]:
        rng = random.Random(self.seed)
        return [[rng.random() < self.share for _ in s.tokens] for s in article.sentences]

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.where(row, 0.9, 0.1) for row in self.labels(article)]


class Words:
    """Chooses the words of the given text wherever they stand together."""

    name = "words.v1"

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def labels(self, article: Article) -> list[list[bool]]:
        out = []
        for sentence in article.sentences:
            base = sentence.tokens[0].start
            text = sentence.text
            places = [m.span() for t in self.texts for m in re.finditer(re.escape(t), text)]
            out.append(
                [
                    any(a <= t.start - base and t.end - base <= b for a, b in places)
                    for t in sentence.tokens
                ]
            )
        return out

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.array(row, np.float64) for row in self.labels(article)]


def tagged(text: str, *words: str, kind: Format = "markdown") -> str:
    document = read_bytes(text.encode(), kind)
    return marked(suggest(document, Words(*words)))[0].decode()


def unmarked(data: bytes, text: bytes) -> bool:
    """Whether `data` is `text` with marks put in: no byte lost, added ones all of marks."""
    mark = re.compile(rb"\*\*|</?strong>")
    # Every way of reading the marks is followed: the document may hold such marks itself.
    states = seen = {(0, 0)}
    while states:
        if (len(data), len(text)) in states:
            return True
        following = set()
        for i, j in states:
            if i < len(data) and j < len(text) and data[i] == text[j]:
                following.add((i + 1, j + 1))
            if found := mark.match(data, i):
                following.add((found.end(), j))
        states = following - seen
        seen = seen | states
    return False


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("猫は眠い。", "眠い", "猫は**眠い**。"),
        # A closing ** after a full-width bracket or stop is none before a letter.
        ("「猫」は眠い。", "「猫」", "「**猫**」は眠い。"),
        ("猫は寝た。犬は起きた。", "猫は寝た。", "**猫は寝た**。犬は起きた。"),
        ("猫は寝た。", "猫は寝た。", "**猫は寝た。**"),
        ("GitHub(ギットハブ)は場所。", "GitHub(ギットハブ)",
         "<strong>GitHub(ギットハブ)</strong>は場所。"),
        ("猫は『大変』に眠い。", "は『大変", "猫は『**大変**』に眠い。"),
        # Marks that stand already.
        ("猫は*大変*に眠い。", "大変", "猫は***大変***に眠い。"),
        ("猫は**大変**に眠い。", "大変に", "猫は**大変**に眠い。"),
        ("`ls`は[猫](u)と鳥。", "ls", "`ls`は[猫](u)と鳥。"),
        ("[猫](u)と鳥と犬。", "猫](u)と鳥", "[猫](u)と鳥と犬。"),
        ("猫\\*と犬。", "猫*と", "**猫**\\*と犬。"),
        ("猫&amp;犬がいる。", "猫&犬", "**猫&amp;犬**がいる。"),
        # Lines, quotes, lists.
        ("> 猫は\n> 眠い。", "猫は眠い", "> **猫は\n> 眠い**。"),
        ("- 猫\n- 犬は眠い", "犬", "- 猫\n- **犬**は眠い"),
        ("# 猫\n\n猫は眠い。", "猫", "# 猫\n\n**猫**は眠い。"),
        ("    猫\n\n猫は眠い。", "猫", "    猫\n\n**猫**は眠い。"),
        ("---\ntitle: 猫\n---\n猫は眠い。", "猫", "---\ntitle: 猫\n---\n**猫**は眠い。"),
        # All of a paragraph that is no sentence would be a heading.
        ("猫\n\n猫は眠い。", "猫", "猫\n\n**猫**は眠い。"),
        # Only a mark and a particle is nothing to emphasise.
        ("猫は、眠い。", "は、", "猫は、眠い。"),
    ],
)  # fmt: skip
def test_markdown(text: str, words: str, expected: str) -> None:
    assert tagged(text, words) == expected
    assert tagged(text.replace("\n", "\r\n"), words) == expected.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("<p>猫は眠い。", "眠い", "<p>猫は<strong>眠い</strong>。"),
        ("<p>猫は<i>大変</i>眠い。", "は大変眠い",
         "<p>猫は<i><strong>大変</strong></i><strong>眠い</strong>。"),
        ("<p>猫は<b>大変</b>眠い。", "大変眠い", "<p>猫は<b>大変</b>眠い。"),
        ("<title>猫</title><h1>猫</h1><pre>猫</pre><a href=u>猫</a>は猫。", "猫",
         "<title>猫</title><h1>猫</h1><pre>猫</pre><a href=u>猫</a>は<strong>猫</strong>。"),
        ("<p title='猫'>猫は<!-- 猫 -->犬。</b></p><p", "猫",
         "<p title='猫'><strong>猫</strong>は<!-- 猫 -->犬。</b></p><p"),
    ],
)  # fmt: skip
def test_html(text: str, words: str, expected: str) -> None:
    assert tagged(text, words, kind="html") == expected


PIECES = [
    *"猫犬。「」、はの眠 \n\r*_`[]()<>!&\\#>-|~$:\t　𠮷a1（）",
    *("**", "__", "\n\n", "\r\n", "```", "<b>", "</b>", "](u)", "&amp;", "- ", "> ", "1. "),
    *("    ", "---\n", "title: x\n", "<!--", "-->", "[猫]: u\n", "https://a.b ", "| a |\n|-|\n"),
    *("眠い猫が", "大変です。", "「犬」の"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def _plain(parsed: ParsedText) -> list[tuple[str, tuple[bool, ...]]]:
    return [(b.text, b.fixed) for b in parsed.blocks]


def _as_written(read: Callable[[str], ParsedText], text: str) -> ParsedText:
    """The text with the spaces at the edges of marks.

    The usual reading takes out those that look as if a mark needed them. In `猫 **犬**` nobody can
    tell whether the space was there before the mark, and the marks put in change what habits
    the document shows. What the tagger adds is therefore looked at without this step.
    """
    with patch.object(BlockBuilder, "finished", lambda builder: tuple(builder.blocks)):
        return read(text)


def _only_spaces_at_marks_are_out(parsed: ParsedText, written: ParsedText) -> bool:
    """Whether the usual reading has all of the text as written but spaces beside marks."""
    for block, whole in zip(parsed.blocks, written.blocks, strict=True):
        out = [i for i, start in enumerate(whole.starts) if start not in set(block.starts)]
        if not all(whole.text[i] == " " and len({*whole.bold[i - 1 : i + 2]}) > 1 for i in out):
            return False
        if block.text != "".join(c for i, c in enumerate(whole.text) if i not in out):
            return False
    return True


@given(TEXTS, st.integers(0, 99))
def test_nothing_but_marks_is_added_to_markdown(text: str, seed: int) -> None:
    document = read_bytes(text.encode(), "markdown")
    found = suggest(document, Dice(seed))
    data, count, lost = marked(found)
    assert unmarked(data, text.encode())
    assert count or data == text.encode()
    before, after = (_as_written(read_markdown, t) for t in (text, data.decode()))
    assert _plain(after) == _plain(before)
    assert _only_spaces_at_marks_are_out(read_markdown(data.decode()), after)
    bold = sum(sum(b.bold) for b in after.blocks) - sum(sum(b.bold) for b in before.blocks)
    assert (bold > 0) == (count > 0)
    assert count == 0 or lost < len(found.runs) * 3
    # Without <strong>, the page is the one that was.
    page = MarkdownIt("commonmark").enable("table")
    ours, theirs = (page.render(t) for t in (data.decode(), text))
    assert re.sub("</?strong>", "", ours) == re.sub("</?strong>", "", theirs)


@given(
    st.lists(
        st.sampled_from(
            [*'猫犬。「」 \n<>&"', "<b>", "</b>", "<p>", "<pre>", "</pre>", "<a href=x>", "</a>",
             "<!--", "-->", "&amp;", "<i>", "</i>", "眠い猫が", "<td>", "</td>", "<script>"]
        ),
        max_size=40,
    ).map("".join),
    st.integers(0, 99),
)  # fmt: skip
def test_nothing_but_marks_is_added_to_html(text: str, seed: int) -> None:
    document = read_bytes(text.encode(), "html")
    data, _, _ = marked(suggest(document, Dice(seed)))
    assert unmarked(data, text.encode())
    before, after = (_as_written(read_html, t) for t in (text, data.decode()))
    assert _plain(after) == _plain(before)
    assert _only_spaces_at_marks_are_out(read_html(data.decode()), after)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp932", "euc_jp", "euc_jis_2004"]
)
def test_an_encoding_is_kept(encoding: str) -> None:
    text = "# 題\r\n\r\n猫は表示がとても眠い。ソースも能率も十分です。\r\n"
    data = text.encode(encoding)
    found = suggest(read_bytes(data, "markdown"), Words("とても", "能率"))
    expected = text.replace("とても", "**とても**").replace("能率", "**能率**")
    assert marked(found)[0] == expected.encode(encoding)


def test_iso_2022_jp_is_refused_when_marks_are_due() -> None:
    data = "猫はとても眠い。".encode("iso2022_jp")
    document = read_bytes(data, "markdown")
    assert marked(suggest(document, Words()))[0] == data
    with pytest.raises(InputError, match="2022"):
        marked(suggest(document, Words("とても")))


def test_broken_bytes_stay() -> None:
    data = "猫は".encode() + b"\xe3\x81" + "眠い。".encode() * 40 + b"\xff\n"
    after = marked(suggest(read_bytes(data, "markdown"), Words("眠い")))[0]
    assert after.replace(b"**", b"") == data
    assert after.count(b"**") == 80


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# \xe7\x8c\xab", b"```\nx\n```", b"\xef\xbb\xbf"])
def test_a_document_without_running_text_stays(data: bytes) -> None:
    assert marked(suggest(read_bytes(data, "markdown"), Dice(1, 1.0))) == (data, 0, 0)


def test_a_share_keeps_the_likeliest() -> None:
    class Ranked(Words):
        def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
            return [
                np.array([0.9 if t.surface == "犬" else 0.6 for t in s.tokens])
                for s in article.sentences
            ]

    document = read_bytes("猫がいる。犬がいる。**鳥**がいる。".encode(), "markdown")
    tagger = Ranked("猫", "犬")
    for share, expected in ((1.0, ["猫", "犬"]), (0.2, ["犬"]), (0.1, []), (0.0, [])):
        found = suggest(document, tagger, max_share=share)
        words = [
            found.article.sentences[run.sentence].tokens[run.first].surface for run in found.runs
        ]
        assert words == expected


def test_a_threshold_takes_the_place_of_the_choice() -> None:
    document = read_bytes("猫がいる。".encode(), "markdown")
    assert suggest(document, Words("猫"), threshold=0.0).words == 4
    assert suggest(document, Words("猫"), threshold=0.5).words == 1


@pytest.mark.parametrize(
    ("text", "chosen", "expected"),
    [
        (
            "設定ファイルを必ず保存してください。",
            "保存",
            "設定ファイルを必ず**保存してください**。",
        ),
        (
            "設定ファイルを必ず保存してください。",
            "ファイル",
            "**設定ファイル**を必ず保存してください。",
        ),
        ("僕たち生産性向上チームは動く。", "向上", "**僕たち生産性向上チーム**は動く。"),
        ("先に「承認」を読んでください。", "承認", "先に「**承認**」を読んでください。"),
        ("先に「承認と申請」を読む。", "申請 読む", "先に<strong>「承認と申請」を読む</strong>。"),
        ("恩恵は大きいと思います。", "大きい", "恩恵は**大きい**と思います。"),
        ("注意: 露出は-1にする。", "注意 1", "**注意**: 露出は<strong>-1</strong>にする。"),
        ("猫(白い)を`code`で飼う。", "猫 code", "**猫**(白い)を`code`で飼う。"),
    ],
)
def test_whole_phrases(text: str, chosen: str, expected: str) -> None:
    document = read_bytes(text.encode(), "markdown")
    assert marked(suggest(document, Words(*chosen.split())))[0].decode() == expected
