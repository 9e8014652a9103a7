"""Comparisons and sums: told where they are exact, with the rows that they rest on."""

from __future__ import annotations

import pytest

from naisei.core import Evidence
from naisei.retrieval.figures import worked

ROOMS = """| 部屋 | 定員 | 平日 | 休日 |
| ホール | 500人 | 30,000円 | 45,000円 |
| 会議室 | 30人 | 1,500円 | 2,000円 |
| 和室 | 20人 | 800円 | 応相談 |"""
TICKETS = "| 区分 | 料金 |\n| 大人（高校生以上） | 800円 |\n| 小学生 | 300円 |\n| 幼児 | 無料 |"
POINTS = "| 役 | 子 | 親 |\n| 満貫 | 8,000 | 12,000 |\n| 跳満 | 12,000 | 18,000 |"
LESSONS = "| 日程 | 時間 |\n| 5月10日 | 2時間 |\n| 5月17日 | 3時間 |"
ITEMS = (
    "貸し出すもの\n- マイク：1本300円\n- 映写機：1回1,000円\n"
    "役員の日当は3,000円、社員は2,000円とする。"
)


CAMP = (
    "| サイト | 料金 |\n| フリー 電源なし | ¥7,150 |\n| ソロ | ¥4,400 |\nゴミ処理を含みます。\n"
    "| 品 | 備考 | 料金 |\n| テントS (4人) | シート | ¥5,500 |\n| テントL 6人 | シート | ¥7,700 |"
)
COURSES = (
    "| 区分 | 検定料 |\n| 昼間コース | 30,000円 |\n| 夜間コース | 18,000円 |\n別表\n"
    "| 区分 | 授業料 |\n| 学生（昼間コース） | 500,000円 |\n| 学生（夜間コース） | 200,000円 |"
)


def hit(text: str, heading: str = "", *, cut: bool = False) -> Evidence:
    meta = {"headings": [heading], "title": "案内", **({"cut_table": True} if cut else {})}
    return Evidence(id=heading, text=text, score=1.0, meta=meta)


HITS = [
    hit(ROOMS, "料金"),
    hit(TICKETS, "入場料"),
    hit(LESSONS, "講座"),
    hit(ITEMS, "備品"),
    hit(POINTS, "点"),
    hit(CAMP, "キャンプ"),
    hit(COURSES, "学費"),
]


@pytest.mark.parametrize(
    ("query", "held"),
    [
        (
            "会議室と和室は平日どちらが安いですか",
            ["和室", "700円", "| 会議室 |", "| 和室 |"],
        ),
        ("平日に一番安い部屋はどれですか", ["和室", "| ホール |"]),
        ("ホールは平日と休日でいくら違いますか", ["15,000円", "| ホール |"]),
        ("大人2人と小学生1人でいくら", ["1,900円", "800円×2", "| 小学生 |"]),
        ("大人１人と幼児１人で合計いくら", ["合計は800円", "幼児 0円"]),
        ("マイクと映写機を借りると合計でいくら", ["1,300円", "映写機：1回1,000円"]),
        ("役員と社員の日当はどちらが高い", ["役員", "1,000円"]),
        ("大人の入場料と会議室の平日はどちらが高い", ["会議室", "入場料 800円"]),
        ("講座は全部で何時間ですか", ["合計は5時間", "5月17日 3時間"]),
        ("跳満と満貫の子の差はいくら", ["差は4,000", "| 跳満 |"]),
        ("満貫の子と親はどちらが高い", ["親", "差は4,000"]),
        ("フリーに泊まってテントLを借りると合計いくら", ["14,850円", "| フリー 電源なし |"]),
        ("テントSとテントLの料金の差はいくら", ["差は2,200円"]),
        ("昼間コースと夜間コースの授業料はいくら違いますか", ["差は300,000円"]),
        ("Which is cheaper on 平日, 会議室 or 和室?", ["和室"]),
    ],
)
def test_comparisons_and_sums(query: str, held: list[str]) -> None:
    hits = sorted(HITS, key=lambda h: h.id not in query)  # as a search puts them
    found = worked(query, hits, "ja")
    assert found is not None
    told = "\n".join([found.told, *(text for _, text in found.parts)])
    assert [part for part in held if part not in told] == []


@pytest.mark.parametrize(
    "query",
    [
        "会議室と和室は休日どちらが安いですか",  # one of them has no amount
        "会議室と和室はどちらが安いですか",  # on which day
        "大人と小学生の違いは何ですか",
        "都合に合わせて変更できますか",
        "3人以上で申し込むといくらですか",
        "どの書類が必要ですか",
        "会議室は平日いくらですか",
    ],
)
def test_nothing_is_worked_out_that_is_not_asked_or_not_exact(query: str) -> None:
    found = worked(query, HITS, "ja")
    assert found is None or not found.told


def test_what_has_no_amount_stands_side_by_side() -> None:
    text = "| 経過 | すること |\n| 8秒 | 声をかける |\n| 12秒 | もう一度かける |\n| 17秒 | 止める |"
    found = worked("8秒と12秒では何が違いますか", [hit(text)], "ja")
    assert found is not None and not found.told
    assert found.parts == ((0, "\n".join(text.split("\n")[:3])),)


def test_rows_of_which_some_stand_elsewhere_are_not_summed() -> None:
    assert worked("講座は全部で何時間ですか", [hit(LESSONS, "講座", cut=True)], "ja") is None
    total = [hit(f"{LESSONS}\n| 合計 | 5時間 |", "講座")]
    assert worked("講座は全部で何時間ですか", total, "ja") is None
