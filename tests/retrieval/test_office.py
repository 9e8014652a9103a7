"""Files that people have beside Word and PDF."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from email.message import EmailMessage

import openpyxl
import pptx
import pytest
from openpyxl.styles import Font
from pptx.util import Inches

from naisei.retrieval.types import Document, Unreadable
from retrieval.documents import read, saved


def texts(document: Document) -> list[str]:
    return [passage.text for passage in document.passages]


def xlsx(fill: Callable[[openpyxl.Workbook], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    return saved(book)


def fees(book: openpyxl.Workbook) -> None:
    sheet = book.active
    assert sheet is not None
    sheet.title = "料金"
    for row in (
        ["施設の料金"],
        [],
        ["部屋", "平日", "休日"],
        ["ホール", 9000, 0.5],
        ["和室", 800, 1],
    ):
        sheet.append(row)
    sheet["B4"].number_format = '#,##0"円"'
    sheet["C4"].number_format = "0%"
    sheet["B5"].font = Font(strike=True)
    book.create_sheet("内部").sheet_state = "hidden"


def test_sheets() -> None:
    document = read("a.xlsx", xlsx(fees))
    assert texts(document) == ["施設の料金", "| ホール | 9,000円 | 50% |", "| 和室 |  | 1 |"]
    assert document.passages[1].header == "| 部屋 | 平日 | 休日 |"
    assert document.passages[1].headings == ("料金",)
    assert {one.text for one in document.hidden} == {"内部", "800"}


def test_merged_cells_of_sheets() -> None:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.active
        assert sheet is not None
        for row in (["週", "年数", None], [None, "1年", "2年"], ["2日", "4日", "5日"]):
            sheet.append(row)
        sheet.merge_cells("A1:A2")
        sheet.merge_cells("B1:C1")

    (row,) = read("a.xlsx", xlsx(fill)).passages
    assert (row.header, row.text) == ("| 週 | 年数 1年 | 年数 2年 |", "| 2日 | 4日 | 5日 |")


@pytest.mark.parametrize("text", ["証明,料金\n印鑑,310円\n", "証明\t料金\n印鑑\t310円\n"])
def test_csv(text: str) -> None:
    (row,) = read("a.csv", text.encode("cp932")).passages
    assert (row.header, row.text) == ("| 証明 | 料金 |", "| 印鑑 | 310円 |")


def test_slides() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "受付"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1))
    box.text_frame.text = "九時から十七時まで。"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for n, text in enumerate(("窓口", "電話", "税", "10番")):
        table.cell(n // 2, n % 2).text = text
    document = read("a.pptx", saved(deck))
    text, row = document.passages
    assert (text.text, text.headings, text.page) == ("九時から十七時まで。", ("受付",), 1)
    assert (row.header, row.text) == ("| 窓口 | 電話 |", "| 税 | 10番 |")


ODT = """<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:s="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:b="urn:oasis:names:tc:opendocument:xmlns:table:1.0">
<o:automatic-styles><s:style s:name="T1"><s:text-properties
 s:text-line-through-style="solid"/></s:style></o:automatic-styles>
<o:body><o:text><t:h t:outline-level="1">備品</t:h>
<t:p>貸出は<t:span t:style-name="T1">三日</t:span>七日。</t:p>
<t:list><t:list-item><t:p>本館</t:p><t:list><t:list-item><t:p>月曜</t:p></t:list-item></t:list>
</t:list-item></t:list>
<b:table><b:table-row><b:table-cell b:number-columns-spanned="1"><t:p>品目</t:p></b:table-cell>
<b:table-cell><t:p>金額</t:p></b:table-cell></b:table-row><b:table-row><b:table-cell><t:p>机</t:p>
</b:table-cell><b:table-cell><t:p>500円</t:p></b:table-cell></b:table-row></b:table>
</o:text></o:body></o:document-content>"""


def test_opendocument() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", ODT)
    document = read("a.odt", out.getvalue())
    assert texts(document) == ["貸出は七日。", "- 本館：月曜", "| 机 | 500円 |"]
    assert document.passages[-1].header == "| 品目 | 金額 |"


def test_restructured_text_includes_no_other_file() -> None:
    text = "手引き\n======\n\n申請\n----\n\n期限\n   前日まで\n\n.. include:: /etc/hostname\n"
    document = read("a.rst", text)
    assert (document.title, texts(document)) == ("手引き", ["期限：前日まで"])


def test_mails_name_what_is_attached() -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "窓口の変更", "総務 <a@example.jp>"
    mail.set_content("来月から二階です。\n")
    mail.add_attachment(b"x", maintype="application", subtype="pdf", filename="図.pdf")
    document = read("a.eml", bytes(mail))
    assert document.title == "窓口の変更" and "来月から二階です。" in texts(document)
    assert [(one.text, one.unread) for one in document.hidden] == [("図.pdf", True)]


@pytest.mark.parametrize("name", ["a.xlsx", "a.pptx", "a.odt"])
@pytest.mark.parametrize("data", [b"no archive", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600])
def test_broken_and_locked_packages_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(Unreadable):
        read(name, data)


def test_a_header_stands_above_a_gap_and_for_several_columns() -> None:
    """As in a half-year report: the year once, at the right; a blank row; then the numbers."""

    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.active
        assert sheet is not None
        for year, sales in ((2023, 3128), (2022, 3190)):
            for row in (
                ["CHF", None, f"June {year}"],
                [None, "Sales", "Profit"],
                [],
                ["Cups", sales, 7],
                [],
            ):
                sheet.append(row)

    rows = read("a.xlsx", xlsx(fill)).passages
    assert [(r.header, r.text) for r in rows] == [
        ("| CHF June 2023 | Sales | Profit |", "| Cups | 3128 | 7 |"),
        ("| CHF June 2022 | Sales | Profit |", "| Cups | 3190 | 7 |"),
    ]


def test_a_header_of_two_rows_is_one() -> None:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.active
        assert sheet is not None
        for row in (["No.", "氏名", "結果", None], [None, None, "算数", "国語"], [1, "林", 90, 70]):
            sheet.append(row)
        for cells in ("A1:A2", "B1:B2", "C1:D1"):
            sheet.merge_cells(cells)

    (row,) = read("a.xlsx", xlsx(fill)).passages
    assert row.header == "| No. | 氏名 | 結果 算数 | 結果 国語 |"


def test_the_first_row_is_the_header_where_numbers_come_late() -> None:
    document = read("a.csv", "部署,内線,備考\n総務,なし,なし\n経理,1234,なし\n".encode())
    assert {row.header for row in document.passages} == {"| 部署 | 内線 | 備考 |"}
