"""Dates and editions of documents."""

from datetime import date

import pytest

from naisei.japanese.dates import dates_in, effective_date, is_old, is_series, version_of, work_name
from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024年4月1日", "2024-04-01"),
        ("２０２４年４月", "2024-04-01"),
        ("令和６年４月１日", "2024-04-01"),
        ("令和元年5月1日", "2019-05-01"),
        ("平成三十一年四月三十日", "2019-04-30"),
        ("昭和64年1月7日", "1989-01-07"),
        ("R6.4.1", "2024-04-01"),
        ("20240401", "2024-04-01"),
        ("2024-04", "2024-04-01"),
        ("2024/12/31", "2024-12-31"),
        ("二〇二四年四月一日", "2024-04-01"),
        ("2024年度", "2024-04-01"),
    ],
)
def test_a_date_is_read(text: str, expected: str) -> None:
    assert [written.date.isoformat() for written in dates_in(text)] == [expected]


@pytest.mark.parametrize(
    "text", ["12345678", "第2024条", "1,2024円", "2024年13月40日x", "", "03-2024-0401"]
)
def test_what_is_no_date(text: str) -> None:
    assert all(written.precise == "year" for written in dates_in(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("この規程は令和6年4月1日から施行する。", date(2024, 4, 1)),
        ("制定 2019年4月1日\n改定 2022年4月1日\n改定 2024年10月1日", date(2024, 10, 1)),
        ("施行日：２０２４年４月１日", date(2024, 4, 1)),
        ("Effective: 2024-04-01", date(2024, 4, 1)),
        ("旧規程（2021年4月1日施行）は廃止する", None),
        ("2030年4月1日改定予定", None),
        ("会議は2024年4月1日に開く", None),
    ],
)
def test_when_it_took_effect(text: str, expected: date | None) -> None:
    found = effective_date(text)
    assert (found and found[1]) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected", "source"),
    [
        (
            "a.md",
            "---\n施行日: 令和5年4月1日\n---\n改定 2024年4月1日",
            "2023-04-01",
            "front matter",
        ),
        ("2020-01_a.md", "# 規程\n\n改定：2024年4月1日", "2024-04-01", "text"),
        ("旅費_2024-04.txt", "日当は2,000円。", "2024-04-01", "part of name"),
        ("規程_2021.md", "本文。", "2021-01-01", "part of name"),
        ("2022/規程.md", "本文。", "2022-01-01", "part of name"),
        (
            "a.md",
            "# x\n\n## 改定履歴\n"
            "| 日付 | 内容 |\n|-|-|\n| 2021-04-01 | 初版 |\n| 2023-10-01 | 日当 |",
            "2023-10-01",
            "text",
        ),
    ],
)
def test_a_documents_date(name: str, text: str, expected: str, source: str) -> None:
    document = parsed(name, text.encode(), LIMITS)
    assert document.date == date.fromisoformat(expected)
    assert document.meta["date_from"] == source


def test_names_of_editions() -> None:
    names = [
        "旅費規程_2021",
        "旅費規程 v2",
        "【旧】旅費規程（改訂版）",
        "旅費規程（2023年度版）",
        "旅費規程",
    ]
    assert {work_name(name) for name in names} == {"旅費規程"}
    assert version_of("手順書_v2.1") == (2, 1)
    assert version_of("VPN") == ()
    assert is_old("旧_旅費規程") and is_old("archive/x") and not is_old("復旧手順")
    assert is_series("経営会議 議事録 2024-04") and not is_series("旅費規程")
