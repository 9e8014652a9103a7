"""Excel, Word, ZIP and Slack's folders; what is not read is named."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docx
import openpyxl
import pytest

from both_languages import refused
from naisei.transcripts import read_transcripts

USERS = [
    {"id": "U1", "name": "y", "profile": {"display_name": "山田"}},
    {"id": "U2", "name": "lin", "real_name": "リン", "profile": {"display_name": ""}},
]


def row(user: str, ts: int, text: str, **more: str) -> dict[str, Any]:
    return {"type": "message", "user": user, "ts": f"{ts}.1", "text": text, **more}


# 2026-05-10 15:00 UTC is midnight in Japan.
DAYS = {
    "2026-05-10": [row("U1", 1778421600, "<!channel> 宿題を出して")],
    "2026-05-11": [
        row("U2", 1778425300, "<@U1> はい、<#C1|general> に出しました"),
        row("U2", 1778425400, "<@U2> has joined the channel"),
        row("U2", 1778425500, "入室", subtype="channel_join"),
        row("U1", 1778425600, "ありがとう &amp; お疲れさま"),
    ],
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    channel = tmp_path / "export" / "class"
    channel.mkdir(parents=True)
    (channel.parent / "users.json").write_text(json.dumps(USERS), encoding="utf-8")
    for day, rows in DAYS.items():
        (channel / f"{day}.json").write_text(json.dumps(rows), encoding="utf-8")
    return channel.parent


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_or_zip_of_slack(export: Path, packed: bool) -> None:
    path = export
    if packed:
        path = export.with_suffix(".zip")
        with ZipFile(path, "w") as file:
            for each in sorted(export.rglob("*.json")):
                file.write(each, each.relative_to(export))
    (one,) = read_transcripts(path)
    assert [(t.speaker, t.text, t.session) for t in one.turns] == [
        ("山田", "@channel 宿題を出して", 1),
        ("リン", "@山田 はい、#general に出しました", 2),
        ("山田", "ありがとう & お疲れさま", 2),
    ]
    assert (one.name, one.left_out) == ("class", 2)


def test_one_day_of_slack_finds_the_names_above(export: Path) -> None:
    (one,) = read_transcripts(export / "class" / "2026-05-11.json")
    assert one.speakers == ("リン", "山田")


def test_excel(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["クラスの記録"])
    for cells in (["話", "なまえ", "コメント"], [1, "山田", "やあ"], [1, None, "朝。"], [2, "リン", "うん"]):  # fmt: skip
        book.active.append(cells)
    book.save(tmp_path / "a.xlsx")
    (one,) = read_transcripts(tmp_path / "a.xlsx")
    found = [(t.number, t.speaker, t.text, t.session) for t in one.turns]
    assert found == [(3, "山田", "やあ", 1), (5, "リン", "うん", 2)] and one.left_out == 1
    book.create_sheet("メモ").append(["6/3 収録。BGM, SE はあとで"])
    book.save(tmp_path / "a.xlsx")
    assert [(each.name, each.left_out) for each in read_transcripts(tmp_path / "a.xlsx")] == [
        ("Sheet", 2)
    ]
    book.create_sheet("二").append(["話者", "セリフ"])
    book.save(tmp_path / "a.xlsx")
    assert [one.name for one in read_transcripts(tmp_path / "a.xlsx")][1:] == ["二"]


def test_word(tmp_path: Path) -> None:
    document = docx.Document()
    for text in ("題", "山田：やあ", "リン：うん、元気だよ", "山田：よかった"):
        document.add_paragraph(text)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "リン", "またね"
    document.save(str(tmp_path / "a.docx"))
    (one,) = read_transcripts(tmp_path / "a.docx")
    assert [t.text for t in one.turns] == ["やあ", "うん、元気だよ", "よかった", "またね"]


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"%PDF-1.7\n\x00", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel"),
        (b"PK\x03\x04", ""),
    ],
)
def test_other_files_are_refused_by_name(data: bytes, named: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    error = refused(lambda: read_transcripts(tmp_path / "a"))
    assert named in error.message and error.place == str(tmp_path / "a") and error.remedy


def test_a_folder_or_zip_without_a_conversation_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a.png", b"x")
        file.writestr("b/word/document.xml", b"x")
    (tmp_path / "talk.txt").write_text("甲: やあ\n乙: うん\n", encoding="utf-8")
    with ZipFile(tmp_path / "a.docx", "w") as file:
        file.writestr("word/document.xml", b"<w")
    whole = tmp_path / "empty.xlsx"
    openpyxl.Workbook().save(whole)
    (tmp_path / "half.xlsx").write_bytes(whole.read_bytes()[:1000])
    names = ("a.zip", "a.docx", "empty.xlsx", "half.xlsx", "")
    for path in (tmp_path / name for name in names):
        error = refused(lambda path=path: read_transcripts(path))  # type: ignore[misc]
        assert error.place == str(path) and error.remedy
