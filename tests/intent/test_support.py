"""The support check on pairs that differ in one thing only: what is right passes, what is not
does not."""

from __future__ import annotations

import pytest

from naisei.core import Evidence
from naisei.intent.support import unsupported

_ROOM = "開始から10分たっても入室の操作がないときは、予約が自動で取り消される。"


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        (
            _ROOM,
            "10分たっても操作をしないと、予約は取り消されます。",
            "30分たつと、予約は取り消されます。",
        ),
        ("保証の期間は18か月です。", "保証の期間は1年半です。", "保証の期間は2年です。"),
        (
            "| 区分 | 11月30日まで | 12月1日から |\n| 大人 | 150円 | 200円 |\n"
            "| 1日券（大人） | 400円 | 500円 |",
            "12月1日から大人は200円です。",
            "12月1日から大人は500円です。",
        ),
        (
            "| 品目 | 大きさ | 収集 | 持ち込み |\n| たんす | 高さ2.5m以下 | 1,000円 | 500円 |",
            "収集は、高さ2.5m以下なら1,000円です。",
            "収集は、高さ2.5m以下なら500円です。",
        ),
    ],
)
def test_right_passes_and_wrong_does_not(passage: str, right: str, wrong: str) -> None:
    source = Evidence(id="1", text=passage, score=1.0)
    assert unsupported(right, [source], "ja") == ""
    assert unsupported(wrong, [source], "ja")


def test_nothing_is_claimed_of_the_documents() -> None:
    assert unsupported("手続きが要るかは、資料には書かれていません。", [], "ja") == ""


@pytest.mark.parametrize(
    ("passage", "question", "right", "wrong"),
    [
        (
            "| 区分 | 料金 |\n| 大人 | 800円 |\n| 子ども | 300円 |",
            "大人2人でいくらですか",
            "大人2人で1,600円です。",
            "大人2人で1,500円です。",
        ),
        (
            "入場料は大人1人800円です。",
            "900円ですよね？",
            "いいえ、大人1人800円です。",
            "はい、そうです。",
        ),
        (
            "| 区画 | 月額 |\n| 平置き | 18,000円 |\n| 機械式 | 14,000円 |\n"
            "2台目は3,000円を加える。",
            "平置きで2台目はいくらですか",
            "2台目は3,000円を加えるので、平置きなら月21,000円です。",
            "2台目は3,000円を加えるので、平置きなら月22,000円です。",
        ),
        (
            "有給は年12日です。",
            "5日使いました。残りは何日ですか",
            "残りは7日です。",
            "残りは8日です。",
        ),
        (
            "65歳以上の方は無料です。",
            "70歳ですが無料ですか",
            "はい、70歳の方は無料です。",
            "はい、60歳の方は無料です。",
        ),
    ],
)
def test_numbers_are_worked_out_from_cited_ones_and_the_questions_own_are_no_source(
    passage: str, question: str, right: str, wrong: str
) -> None:
    source = Evidence(id="1", text=passage, score=1.0)
    assert unsupported(right, [source], "ja", question=question) == ""
    assert unsupported(wrong, [source], "ja", question=question)
