"""Markdown, read in place."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from naisei.emphasis.corpus.documents import ParsedText
from naisei.emphasis.corpus.markdown import read_markdown


def bold(text: str) -> list[str]:
    found = [
        "".join(c if b else "\0" for c, b in zip(block.text, block.bold, strict=True))
        for block in read_markdown(text).blocks
    ]
    return [run for line in found for run in line.split("\0") if run]


def fixed(text: str) -> str:
    blocks = read_markdown(text).blocks
    return "".join(c for b in blocks for c, f in zip(b.text, b.fixed, strict=True) if f)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("猫は**とても**眠い。", ["とても"]),
        ("cats are __very__ sleepy", ["very"]),
        ("猫は__とても__眠い。", []),
        ("猫は*とても*眠い。", []),
        ("猫は***とても***眠い。", ["とても"]),
        ("**「猫」**は眠い。", []),
        ("「**猫**」は眠い。", ["猫"]),
        ("**猫と*犬*の**話。", ["猫と犬の"]),
        ("**猫と\n犬の**話。", ["猫と犬の"]),
        ("猫は<strong>とても</strong>眠い<b>。</b>", ["とても", "。"]),
        ("猫は\\**とても**眠い。", []),
        ("`**猫**`と**犬**。", ["犬"]),
        ("> 引用の**中**。", ["中"]),
        ("- 項目の**中**。\n  1. 番号の**中**。", ["中", "中"]),
    ],
)
def test_emphasis(text: str, expected: list[str]) -> None:
    assert bold(text) == expected
    assert bold(text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# 見出しの**中**",
        "見出しの**中**\n---",
        "```\n**中**\n```",
        "    **中**",
        "| **表** | b |\n|---|---|\n| **中** | c |",
        "<div>\n**中**\n</div>",
        "[**参照**]: http://x",
        "---\ntitle: **題**\n---",
        "**段落まるごとの見出し**",
        "<!-- **中** -->",
        "![**中**](x.png)",
    ],
)
def test_what_is_no_running_text(text: str) -> None:
    assert bold(text) == []


def test_what_cannot_be_emphasised() -> None:
    text = "[猫](http://x 't')と[犬][1]と[鳥]と`魚`と<http://y>とhttps://z/a と$牛$[^1]。\n\n[1]: u"
    assert fixed(text) == "猫犬魚http://yhttps://z/a$牛$[^1]"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('---\ntitle: "猫の話"\ndate: 2024-01-01\n---\n# 見出し', "猫の話"),
        ("+++\ntitle = '猫の話'\n+++\n# 見出し", "猫の話"),
        ("\n## 小見出し\n\n# **大**見出し `x`", "大見出し x"),
        ("## 小見出し", "小見出し"),
        ("<h1 align='center'><b>大</b>見出し</h1>\n\n## 小見出し", "大見出し"),
        ("題のない文。", ""),
        ("---\n区切りの後。\n---\n## 節", "区切りの後。"),
    ],
)
def test_title(text: str, title: str) -> None:
    assert read_markdown(text).title == title
    assert read_markdown(text.replace("\n", "\r\n")).title == title


#: What Markdown is made of, and broken with.
PIECES = [
    *"猫犬。「」、 \n\r*_`[]()<>!&\\#>-|~$:\t　\ufeff\0𠮷a1",
    *("**", "__", "\n\n", "\r\n", "```", "<b>", "</b>", "](u)", "&amp;", "- ", "> ", "1. "),
    *("    ", "---\n", "title: x\n", "<!--", "-->", "[猫]: u\n", "https://a.b ", "| a |\n|-|\n"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def _check_places(text: str, parsed: ParsedText) -> None:
    last = 0
    for block in parsed.blocks:
        for character, start, end in zip(block.text, block.starts, block.ends, strict=True):
            assert last <= start < end <= len(text)
            last = end
            source = text[start:end]
            assert source == character or source[0] in "&\\" or character == " "


@given(TEXTS)
@example("猫\n\u3000\u3000猫")
@example("- 猫\n\t\u3000\t猫\u3000 \n猫")
def test_every_character_is_where_it_is_said_to_be(text: str) -> None:
    _check_places(text, read_markdown(text))


@given(TEXTS.filter(lambda text: "\0" not in text))
def test_emphasis_is_what_commonmark_renders(text: str) -> None:
    """Against the pages that markdown-it-py itself makes of paragraphs."""
    text = "文 " + re.sub(r"[\n\r<>&|]+", "", text) + " 文"
    page = MarkdownIt("commonmark").render(text)
    shown = "".join(re.findall(r"<strong>(.*)</strong>", page)) if page.startswith("<p>") else ""
    plain = "".join(html.unescape(re.sub(r"<img[^>]*>|<[^>]*>", "", shown)).split())
    assert "".join("".join(bold(text)).split()) in plain or "<strong>" in page
    if page.count("<strong>") == 1:
        assert "".join("".join(bold(text)).split()) == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("これは **重要** です。", "これは重要です。"),
        ("Gitを使う。 **Git** は便利。", "Gitを使う。Gitは便利。"),
        ("Git を使う。これは **Git** だ。", "Git を使う。これは Git だ。"),
        # Marks stand without spaces here: a space beside one is the writer's, unless it is needed.
        ("猫は**大変**眠い。引用 **鳥**です。", "猫は大変眠い。引用 鳥です。"),
        ("猫は**大変**眠い。犬は **「鳥」** と言う。", "猫は大変眠い。犬は「鳥」と言う。"),
        ("Gitは**大変**便利。これは **Git** だ。", "Gitは大変便利。これはGitだ。"),
        ("ねこ が **とても** ねむい と いう。", "ねこ が とても ねむい と いう。"),
        ("猫 犬と鳥は同じ庭に住み、 **大変** 眠い。", "猫 犬と鳥は同じ庭に住み、大変眠い。"),
        ("**用語** 説明です", "用語 説明です"),
        ("Use **bold** words.", "Use bold words."),
    ],
)
def test_the_text_is_as_if_never_marked(marked: str, plain: str) -> None:
    assert [block.text for block in read_markdown(marked).blocks] == [plain]
