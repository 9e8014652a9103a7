"""Phrases (文節)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.japanese.morph import phrase_starts, words


def phrases(text: str) -> list[str]:
    found = words(text)
    if not found:
        return []
    edges = [w.start for w, starts in zip(found, phrase_starts(found), strict=True) if starts]
    return [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "expected",
    [
        "設定ファイルを|必ず|保存してください。",
        "この|操作は|絶対に|実行してはいけません。",
        "「猫の|話」を|読んでいる|人も|いるので、|気を|付けなければならない。",
        "お客様情報は、|第三者には|提供しないでください。",
        "高速で|使いやすい|エディタです。",
        "これは|問題ではない。",
        "GNU/Linuxを|インストールする。",
        "東京・大阪の|二都市で|開催します。",
        "美しい|花が|咲いた。",
    ],
)
def test_phrases(expected: str) -> None:
    assert "|".join(phrases(expected.replace("|", ""))) == expected


@given(st.text("猫はとても眠い。「」、必ず（）a・", max_size=30))
def test_they_are_the_whole_text(text: str) -> None:
    text = text.strip()
    assert "".join(phrases(text)) == text


def test_of_no_words_there_are_none() -> None:
    assert phrase_starts([]) == []
