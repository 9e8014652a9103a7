"""Marks for a document whose writer is not known: whole clauses and terms, few, none twice."""

from __future__ import annotations

import pytest

from naisei.emphasis.corpus.read import read_bytes
from naisei.emphasis.tag import marked, suggest
from naisei.emphasis.taggers.editor import bundled_tagger


def tagged(text: str) -> str:
    return marked(suggest(read_bytes(text.encode(), "markdown"), bundled_tagger()))[0].decode()


@pytest.mark.parametrize(
    "text",
    [
        "しかし、**鍵を失くしたときは必ず管理室に連絡する必要があります**。",
        "**朝は混むので、会議室の予約は前の日までに済ませることが大切です**。",
        "**古い薬は、水に流すのではなく薬局に返すことが大切です**。",
        "**電源を入れたまま電池を外さないでください**。",
        "**フォワードセキュリティ**とは、鍵が漏れても過去の通信を守る性質です。",
        "この性質を**フォワードセキュリティ**と呼びます。",
    ],
)
def test_a_clause_or_a_term_is_marked_whole(text: str) -> None:
    found = tagged(text.replace("**", ""))
    # A full stop beside a mark that is a whole paragraph is within it.
    assert found.replace("。**", "**。") == text


@pytest.mark.parametrize(
    "text",
    [
        "まず、画面の右上にある設定のボタンを必ず押します。",
        "この方法の欠点は以下のとおりです。",
        "設定のファイルは重要なのでしょうか？",
        "これは管理者の権限が必要です。",
        "問題がありました。",
        "10 個の 3 番の項です。",
        "`make clean` を必ず実行する必要があります。",
        "最初の方法は「重要だ、と書いた人の名前を残す必要があります。",
    ],
)
def test_steps_questions_and_what_points_elsewhere_are_left_alone(text: str) -> None:
    assert tagged(text) == text


def test_at_most_one_mark_a_sentence_and_a_term_once() -> None:
    assert tagged("これを多層防御と呼びます。" * 16).count("**多層防御**") == 1
    assert tagged("入口の鍵は必ず閉める必要があります。" * 32).count("**") // 2 == 32 // 8


def test_what_is_bold_already_does_not_decide() -> None:
    text = "**鍵を失くした**ときは必ず管理室に連絡する必要があります。"
    assert tagged(text).startswith("**鍵を失くした**")
