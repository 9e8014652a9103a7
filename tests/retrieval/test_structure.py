"""Structure is read as a reader sees it, whatever the format."""

from __future__ import annotations

from collections.abc import Callable

import docx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from naisei.retrieval.loaders.blocks import Blocks
from retrieval.documents import lines, read, saved
from retrieval.pdf_file import pdf, show


def test_items_of_a_list_keep_what_is_theirs() -> None:
    page = (
        "<ul><li>平日<br>700円</li><li>日曜<br>800円</li></ul>"
        "<ol start=3><li>本館<ul><li>月曜</li><li>年末</li></ul><li>別館<ul><li>火曜</ul></ol>"
    )
    assert lines("a.html", page) == [
        "- 平日 700円",
        "- 日曜 800円",
        "3. 本館：月曜、年末",
        "4. 別館：火曜",
    ]


def test_a_table_below_an_item_belongs_to_it() -> None:
    text = "1. 次の日数\n    1. 週5日\n\n        |1年|2年|\n        |--|--|\n        |4日|5日|\n"
    row = read("a.md", text).passages[-1]
    assert (row.text, row.header) == ("| 週5日 | 4日 | 5日 |", "|  | 1年 | 2年 |")
    text = "1. 祖父母が死亡したとき\n    <table><tr><td>日数<td>3日<tr><td>届<td>後日</table>\n"
    (line,) = lines("a.md", text)
    assert "祖父母" in line and "3日" in line


LABELS = [
    "<table><tr><th>所在地<td>港町<tr><th>休館日<td>木曜</table>",
    "<table><tr><td>所在地<td>港町三丁目<tr><td>休館日<td>木曜</table>",
    "<table><tr><th>所在地<td>港町<th>休館日<td>木曜</table>",
]


@pytest.mark.parametrize("table", LABELS)
def test_a_table_of_labels_has_no_header(table: str) -> None:
    assert "休館日：木曜" in "、".join(lines("a.html", table))
    assert not any(passage.header for passage in read("a.html", table).passages)


HEADERS = [
    ("<tr><th rowspan=2>年<th colspan=2>勤務<tr><th>週1日<th>週2日<tr><td>半年<td>1日<td>3日", 1),
    ("<tr><td rowspan=2>年<td colspan=2>勤務<tr><td>週1日<td>週2日<tr><td>半年<td>1日<td>3日", 1),
    ("<tr><td>品目<td>金額<tr><td>机<td>500円<tr><td>椅子<td>300円", 2),
    ("<tr><td colspan=2>室<td>月額<tr><td>寮<td>北<td>4千円<tr><td>寮<td>南<td>5千円", 2),
    ("<tr><td>第1章<td>総則<td>3条<tr><td>第2章<td>人事<td>5条", 0),
]


def test_a_row_of_quantities_above_others_is_a_header() -> None:
    table = "<tr><td>1年<td>2年<td>3年以上<tr><td>10日<td>11日<td>12日"
    (found,) = read("a.html", f"<table>{table}</table>").passages
    assert found.header == "| 1年 | 2年 | 3年以上 |"


@pytest.mark.parametrize(("table", "rows"), HEADERS)
def test_headers_of_tables(table: str, rows: int) -> None:
    found = [one for one in read("a.html", f"<table>{table}</table>").passages if one.header]
    assert len(found) == rows
    if rows == 1:
        assert found[0].header == "| 年 | 勤務 週1日 | 勤務 週2日 |"


def test_lists_of_links_are_no_text() -> None:
    menu = (
        "<div><h2>関連</h2><ul><li><a href=/a>ごみ</a><li><a href=/b>粗大ごみの申込</a></ul></div>"
    )
    assert lines("a.html", f"{menu}<p>集まりは六日。</p>") == ["集まりは六日。"]
    assert len(lines("a.html", menu.replace("<h2>関連</h2>", ""))) == 2  # all that there is


def test_markdown_definitions_notes_and_boxes() -> None:
    text = ":::message\n許可が要る[^1]。\n:::\n\n申請期限\n: 前日の17時\n\n[^1]: 五年残す。\n"
    first, second = lines("a.md", text)
    assert "五年残す" in first and ":::" not in first
    assert second == "申請期限：前日の17時"


def test_ruby_is_a_reading_and_struck_out_text_is_none() -> None:
    page = "<p><ruby>診療<rp>(<rt>しんりょう<rp>)</ruby>は<s>三日</s><del>四日</del>七日。</p>"
    document = read("a.html", page)
    assert document.passages[0].text == "診療は七日。"
    assert {one.how for one in document.hidden} == {"struck out"}


def test_rules_are_called_by_their_name_and_not_by_their_first_article() -> None:
    blocks = Blocks(1_000)
    blocks.text("学生寮運営規程\n平成16年4月1日制定")
    blocks.text("第１条（趣旨）　この規程は、運営を定める。")
    assert blocks.first == "学生寮運営規程"


def test_rules_typed_in_word() -> None:
    document = docx.Document()
    for text in (
        "社員の決まり",
        "第3章　退職",
        "（退職一時金等）",
        "第7条　退職一時金は支給しない。",
    ):
        document.add_paragraph(text)
    document.add_paragraph("２　功労金を支給することがある。")
    found = read("a.docx", saved(document))
    heading, second = found.passages
    assert found.title == "社員の決まり"
    assert heading.headings[-2:] == ("第3章 退職", "第7条（退職一時金等）")
    assert heading.text.endswith("支給しない。") and second.headings == heading.headings


def test_word_numbers_notes_ruby_and_strikes() -> None:
    document = docx.Document()
    document.add_heading("備品", 1)
    document.add_paragraph("届を出す", style="List Number")
    document.add_paragraph("貸出は", style="List Number").add_run("三日").font.strike = True
    ruby = document.add_paragraph("")
    ruby._p.append(
        parse_xml(
            f"<w:r {nsdecls('w')}><w:ruby><w:rt><w:r><w:t>しんりょう</w:t></w:r></w:rt>"
            "<w:rubyBase><w:r><w:t>診療</w:t></w:r></w:rubyBase></w:ruby></w:r>"
        )
    )
    first, second, third = lines("a.docx", saved(document))
    assert (first[:2], second[:2]) == ("1.", "2.") and "三日" not in second
    assert third == "診療"


def test_two_rows_of_headers_in_word() -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    table.cell(0, 0).merge(table.cell(1, 0)).text = "週"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "年数"
    texts = {(1, 1): "1年", (1, 2): "2年", (2, 0): "2日", (2, 1): "4日", (2, 2): "5日"}
    for (row, column), text in texts.items():
        table.cell(row, column).text = text
    (passage,) = read("a.docx", saved(document)).passages
    assert (
        passage.header == "| 週 | 年数 1年 | 年数 2年 |" and passage.text == "| 2日 | 4日 | 5日 |"
    )


def test_a_head_row_of_word_is_one() -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("机", "五百円", "椅子", "三百円"), strict=True):
        cell.text = text
    mark = OxmlElement("w:tblHeader")
    table.rows[0]._tr.get_or_add_trPr().append(mark)
    assert mark.tag == qn("w:tblHeader")
    assert [one.header for one in read("a.docx", saved(document)).passages] == ["| 机 | 五百円 |"]


def ruled(rows: list[list[list[str]]], top: float, *, head: str = "") -> str:
    """Operators of a table with rules; each cell is a list of lines."""
    made, y = head, top
    for row in rows:
        high = 16 * max(map(len, row)) + 4
        for n, cell in enumerate(row):
            made += f"{50 + 150 * n} {y - high} 150 {high} re S\n"
            for k, line in enumerate(cell):
                made += show(line, 54 + 150 * n, y - 14 - 16 * k)
        y -= high
    return made


def test_wrapped_cells_of_a_pdf_are_one_row_and_go_on_on_the_next_page() -> None:
    first = ruled([[["品名"], ["出し方"]], [["竹ぼうき（長い", "もの）"], ["大型ごみ"]]], 700)
    second = ruled([[["机"], ["大型ごみ"]]], 800)
    rows = read("a.pdf", pdf(first, second)).passages
    assert [row.text for row in rows] == [
        "| 竹ぼうき（長いもの） | 大型ごみ |",
        "| 机 | 大型ごみ |",
    ]
    assert {row.header for row in rows} == {"| 品名 | 出し方 |"}
    assert [row.page for row in rows] == [1, 2]


def test_sentences_of_a_pdf_go_on_over_pages() -> None:
    one = show("この規程は社員の旅費について定めるものであり、", 60, 700)
    two = show("役員には適用しない。", 60, 700)
    assert lines("a.pdf", pdf(one, two)) == [
        "この規程は社員の旅費について定めるものであり、役員には適用しない。"
    ]


def test_two_columns_of_text_are_no_table() -> None:
    left = [
        "市では毎年八月に町内のまつりを行",
        "い、たくさんの人が集まります。屋",
        "台も並びます。雨なら延期します。",
    ]
    right = [
        "図書館の休みは月曜日です。返却箱",
        "はいつでも使えます。本の予約は電",
        "話でも受け付けますのでどうぞ。　",
    ]
    page = "".join(
        show(a, 40, 700 - 16 * n) + show(b, 300, 700 - 16 * n)
        for n, (a, b) in enumerate(zip(left, right, strict=True))
    )
    found = read("a.pdf", pdf(page)).passages
    assert not any(passage.header for passage in found)
    assert any("行い、たくさん" in passage.text for passage in found)


def test_readings_of_a_pdf_are_left_out() -> None:
    page = show("避難所は北小学校です。", 60, 700, 12) + show("ひなんじょ", 60, 712.5, 5)
    assert lines("a.pdf", pdf(page)) == ["避難所は北小学校です。"]


def test_vertical_and_turned_text_of_a_pdf() -> None:
    columns = ("まつりは八月に行う。", "手伝いの人に弁当を配る。")
    down = "".join(
        show(letter, 500 - 24 * x, 750 - 15 * y, 12)
        for x, column in enumerate(columns)
        for y, letter in enumerate(column)
    )
    assert lines("a.pdf", pdf(down)) == list(columns)
    turned = show("機械室は立ち入りを禁じる。", 0, 0, 12, before="0 1 -1 0 200 60 cm")
    assert lines("a.pdf", pdf(turned)) == ["機械室は立ち入りを禁じる。"]


TIERS = (
    ("まつりは八月十日に行う。雨", "なら、八月十七日にする。"),
    ("弁当の数を前日までに役員", "へ知らせる。"),
)


@pytest.mark.parametrize("order", ["tiers", "columns", "left first", "rows"])
def test_vertical_writing_in_tiers(order: str) -> None:
    places = [
        (letter, 500 - 24 * x, 750 - 230 * tier - 15 * y)
        for tier, columns in enumerate(TIERS)
        for x, column in enumerate(columns)
        for y, letter in enumerate(column)
    ]
    sorts: dict[str, Callable[[tuple[str, int, int]], tuple[int, ...]]] = {
        "tiers": lambda place: (0,),
        "columns": lambda place: (-place[1], -place[2]),
        "left first": lambda place: (place[2] < 550, place[1], -place[2]),
        "rows": lambda place: (-place[2], place[1]),
    }
    page = "".join(show(letter, x, y, 12) for letter, x, y in sorted(places, key=sorts[order]))
    assert "".join(lines("a.pdf", pdf(page))).replace("\n", "") == "".join(map("".join, TIERS))


def test_a_page_without_text_is_told() -> None:
    document = read("a.pdf", pdf(show("本文。", 60, 700), "0 0 100 100 re f\n"))
    assert [(one.text, one.unread) for one in document.hidden] == [("2", True)]
