"""Marks for a document whose writer is not known: whole clauses and terms, few, none twice."""

from __future__ import annotations

import pytest

from naisei.emphasis.corpus.read import read_bytes
from naisei.emphasis.review import suggested
from naisei.emphasis.tag import marked, suggest
from naisei.emphasis.taggers.editor import bundled_tagger
from naisei.lang import speaking


def tagged(text: str) -> str:
    return marked(suggest(read_bytes(text.encode(), "markdown"), bundled_tagger()))[0].decode()


@pytest.mark.parametrize(
    "text",
    [
        "しかし、**鍵を失くしたときは必ず管理室に連絡する必要があります**。",
        "**古い薬は、水に流さずに薬局に返す必要があります**。",
        "**再起動のあとは設定が元に戻せない**ことに注意してください。",
        "**ログの保管期間は、一年とすることが望ましい**。",
        "**電源を入れたまま電池を外さないでください**。",
        "**フォワードセキュリティ**とは、鍵が漏れても過去の通信を守る性質です。",
        "この性質を**フォワードセキュリティ**と呼びます。",
        "前の検査を**静的検査**と呼び、後の検査を**動的検査**と呼びます。",
        "こういう名札を「**シンボル**」と呼びます。",
        "単に鍵と呼ぶこともあるが、本書では**フォワードセキュリティ**と呼ぶ。",
        "**設定は起動の前に`make check`で必ず確かめてください**。",
        "**鍵は[倉庫の棚](http://a.example/b)に必ず戻してください**。",
        "守る性質を**フォワードセキュリティ**という。",
        "**Renovate**は、依存する版を自動で上げるツールです。",
        "また、**設定ファイルは起動中に書き換えてはいけません**。",
    ],
)
def test_a_sentence_or_a_term_is_marked_whole(text: str) -> None:
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
        "朝は混むので、会議室の予約は前の日までに済ませることが大切です。",
        "色々な値を付けて送り直す必要があります。",
        "図の左側は、必ず先に読む必要があります。",
        "本規程は、賃金に関する事項を定めるものである。",
        "問題がありました。",
        "会議室の予約は前の日までに済ませることが大切です。",
        "設計の時点で、性能と費用を考慮する必要があります。",
        "検査の結果は、必ずしも正しいものとは言えず、必ずしも使う。",
        "鍵は一度しか使うことができません。",
        "鍵（フォワードキーとも呼ばれます）を渡します。",
        "静的検査は型検査と呼ばれることもあります。",
        "以前は静的検査と呼ばれた。",
        "静的検査とは違いますが、型を調べる仕組みです。",
        "10 個の 3 番の項です。",
        "`make clean` を必ず実行する必要があります。",
        "最初の方法は「重要だ、と書いた人の名前を残す必要があります。",
    ],
)
def test_steps_questions_and_what_points_elsewhere_are_left_alone(text: str) -> None:
    assert tagged(text) == text


PLACES = [f"{side}の{room}" for side in "東西南北" for room in ("倉庫", "書庫", "金庫", "車庫")]


def test_at_most_one_mark_for_eight_sentences_and_a_term_once() -> None:
    named = "".join(f"{place}ではこれを多層防御と呼びます。" for place in PLACES)
    assert tagged(named).count("**多層防御**") == 1
    doors = "".join(f"\n\n{place}の鍵は必ず閉める必要があります。" for place in PLACES)
    assert tagged(doors).count("**") // 2 == len(PLACES) // 8


def test_a_paragraph_has_one_claim_and_none_beside_a_term() -> None:
    claims = "入口の鍵は必ず閉める必要があります。裏口の鍵は必ず閉める必要があります。"
    assert tagged(claims) == "**" + claims.replace("。", "**。", 1)
    assert tagged(claims + "前の検査を静的検査と呼びます。").count("**") == 2


def test_a_claim_that_the_next_sentence_turns_is_left_alone() -> None:
    claim = "古い版の鍵では新しい扉を開けることができません。"
    assert "**" in tagged(claim + "新しい鍵を使います。")
    assert "**" not in tagged(claim + "一方、新しい鍵ではどの扉も開きます。")


def test_what_is_said_twice_is_not_marked() -> None:
    assert "**" not in tagged("入口の鍵は必ず閉める必要があります。\n\n" * 2)


def test_what_is_bold_already_does_not_decide() -> None:
    text = "**鍵を失くした**ときは必ず管理室に連絡する必要があります。"
    assert tagged(text).startswith("**鍵を失くした**")


def test_the_reason_is_what_the_sentence_does() -> None:
    text = "シンボルとは、名前を表す値です。\n\n電源を入れたまま電池を外さないでください。"
    found = suggest(read_bytes(text.encode(), "markdown"), bundled_tagger())
    with speaking("en"):
        reasons = [one.reason for one in suggested(found)]
    for reason, kind in zip(reasons, ("term", "prohibition"), strict=True):
        assert kind in reason
        assert "probability" not in reason
