"""Five formats: what a reader sees, with headings, pages and tables; what is hidden stays out."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt

from naisei.retrieval.types import LoadLimits, Unreadable
from retrieval.documents import lines, read, saved
from retrieval.pdf_file import pdf, show


def test_markdown() -> None:
    document = read(
        "a.md",
        "---\ntitle: 休暇規程\ntags: [人事, 休暇]\n---\n# 休暇\n"
        "<!-- 全員に\n権限 -->\n本文**強調**と[表](x.md)。\n"
        "## 看護\n| 対象 | 日数 |\n|:--|--:|\n| 一人 | 5日 |\n| 二人\\|以上 | 10日 |\n\n"
        "```\n# 見出しではない <!-- 見える -->\n```\n見出し\n---\n末尾",
    )
    assert (document.title, document.meta["tags"]) == ("休暇規程", ["人事", "休暇"])
    first, one, two, code, last = document.passages
    assert (first.text, first.headings) == ("本文強調と表。", ("休暇",))
    assert (one.text, one.kind, one.header) == ("| 一人 | 5日 |", "row", "| 対象 | 日数 |")
    assert (two.text, two.headings) == ("| 二人｜以上 | 10日 |", ("休暇", "看護"))
    assert code.text == "# 見出しではない <!-- 見える -->"
    assert (last.text, last.headings) == ("末尾", ("休暇", "見出し"))


def test_plain_text() -> None:
    document = read(
        "a.txt",
        "会議室の使い方\n\n第１条（目的）\n使い方を定める。\n\n第2条の規定による。\n\n【予約】\n区分\t人数\n大\t20名\n小\t6名\n",
    )
    assert document.title == "会議室の使い方"
    assert [(p.text, p.headings[1:]) for p in document.passages] == [
        ("使い方を定める。", ("第１条（目的）",)),
        ("第2条の規定による。", ("第１条（目的）",)),
        ("| 大 | 20名 |", ("【予約】",)),
        ("| 小 | 6名 |", ("【予約】",)),
    ]


def test_a_wrong_charset_in_a_page_is_not_believed() -> None:
    page = '<meta charset="utf-8"><title>手順 | 社内</title><h1>手順</h1><p>再起動する。</p>'
    document = read("a.html", page.encode("cp932"))
    assert (document.title, document.passages[0].text) == ("手順", "再起動する。")


def test_html_tables_lists_and_spans() -> None:
    document = read(
        "a.html",
        "<h2>版</h2><ul><li>一<ul><li>二</li></ul></li></ul><table><thead><tr><th>OS<th>版</thead>"
        "<tr><td rowspan=2>Windows<td>10<tr><td>11<tr><td colspan=2>その他</table>",
    )
    rows = ["| Windows | 10 |", "| Windows | 11 |", "その他"]
    assert [p.text for p in document.passages] == ["- 一：二", *rows]
    assert document.passages[1].header == "| OS | 版 |"


def word(*, hidden: bool = True) -> docx.document.Document:
    document = docx.Document()
    document.add_heading("出張旅費規程", 0)
    document.add_heading("第1章 総則", 1)
    document.add_paragraph("この規程は旅費を定める。")
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "1")
    document.add_paragraph("日当")._p.get_or_add_pPr().append(level)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("区分", "額", "役員", "3,000円"), strict=True):
        cell.text = text
    last = document.add_paragraph("見える。")
    if hidden:
        last.add_run("秘密").font.hidden = True
        last.add_run("小さい").font.size = Pt(0.5)
    return document


def test_word() -> None:
    document = read("a.docx", saved(word()))
    assert document.title == "出張旅費規程"
    text, row, last = document.passages
    assert (text.text, text.headings) == ("この規程は旅費を定める。", ("第1章 総則",))
    assert (row.text, row.header) == ("| 役員 | 3,000円 |", "| 区分 | 額 |")
    assert (last.text, last.headings) == ("見える。", ("第1章 総則", "日当"))


def styled(change: str) -> docx.document.Document:
    """With 秘 hidden by itself or by a style, or shown."""
    document = word(hidden=False)
    run = document.add_paragraph("見える。").add_run("秘")
    match change:
        case "web":
            run.font.web_hidden = True
        case "character style" | "style of a style":
            style = document.styles.add_style("隠", WD_STYLE_TYPE.CHARACTER)
            style.font.hidden = True
            if change == "style of a style":
                base, style = style, document.styles.add_style("隠2", WD_STYLE_TYPE.CHARACTER)
                style.base_style = base
            run.style = style
        case "paragraph style":
            style = document.styles.add_style("隠", WD_STYLE_TYPE.PARAGRAPH)
            style.font.hidden = True
            document.add_paragraph("秘", style=style)
            run.text = ""
        case "shown again":
            style = document.styles.add_style("隠", WD_STYLE_TYPE.CHARACTER)
            style.font.hidden = True
            run.style, run.font.hidden = style, False
    return document


@pytest.mark.parametrize(
    "change", ["web", "character style", "style of a style", "paragraph style"]
)
def test_word_hides_by_itself_and_by_style(change: str) -> None:
    assert "秘" not in "".join(lines("a.docx", saved(styled(change))))
    assert "秘" in "".join(lines("a.docx", saved(styled("shown again"))))


def test_a_zip_bomb_is_not_unpacked() -> None:
    out = io.BytesIO(saved(word()))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/media/x.bin", bytes(3_000_000))
    assert len(out.getvalue()) < 100_000
    with pytest.raises(Unreadable, match=r"unpacked|展開"):
        read("a.docx", out.getvalue(), LoadLimits(inflated=2_000_000))


TABLE = "".join(
    show(text, x, y)
    for y, row in ((600, ("区分", "日数")), (580, ("本人", "5日")), (560, ("子", "10日")))
    for x, text in zip((72, 200), row, strict=True)
)


def test_pdf_pages_headings_and_tables() -> None:
    first = show("休暇規程", 72, 780, 20) + show("第1条（目的）", 72, 740) + TABLE
    long = "あ" * 40
    second = show(f"{long}いう", 72, 700) + show("えお。", 72, 684) + show("次の文。", 72, 668)
    document = read("a.pdf", pdf(first, second))
    assert document.title == "休暇規程"
    one, two, text = document.passages
    assert (one.text, one.header, one.page) == ("| 本人 | 5日 |", "| 区分 | 日数 |", 1)
    assert two.headings == ("休暇規程", "第1条（目的）")
    assert (text.text, text.page) == (f"{long}いうえお。\n次の文。", 2)


SECRET = "秘密".encode("utf-16-be").hex()


@pytest.mark.parametrize(
    "part",
    [
        show("公開", 72, 600, before="0 0 595 842 re W n"),
        show("公開", 72, 600, before="60 590 90 30 re W n"),
        f"/Span <</ActualText <FEFF516C958B>>> BDC {show('公開', 72, 600)} EMC\n",
    ],
)
def test_clipped_and_replaced_letters_that_show_are_text(part: str) -> None:
    assert "公開" in "".join(lines("a.pdf", pdf(show("本文", 72, 700) + part)))


@pytest.mark.parametrize(
    "secret",
    [
        show("秘密", 72, 600, before="3 Tr"),
        f"q BT /F1 11 Tf 1 0 0 0 72 600 Tm <{SECRET}> Tj ET Q\n",
        f"q BT /F1 11 Tf 0.0001 0 0 1 72 600 Tm <{SECRET}> Tj ET Q\n",
        show("秘密", 72, 600).replace("Tf", "Tf 0.001 Tz"),
        show("秘密", 72, 600, 0.5),
        show("秘密", 72, -30),
        show("秘密", 900, 600),
    ],
)
def test_invisible_letters_of_a_pdf_are_no_text(secret: str) -> None:
    assert lines("a.pdf", pdf(show("見える。", 72, 700) + secret)) == ["見える。"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b""),
        ("a.txt", b" \n\n"),
        ("a.txt", b"\x7fELF" + bytes(range(256)) * 20),
        ("a.pdf", b"%PDF-1.4\nbroken"),
        ("a.pdf", b"no pdf"),
        ("a.pdf", pdf(show("", 72, 700))),
        ("a.docx", b"PK\x03\x04broken"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600),
        ("a.docx", saved(word())[:-400]),
        ("a.html", b"<p> </p>"),
        ("a.xlsx", b"x"),
    ],
)
def test_what_cannot_be_read_says_so(name: str, data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    assert caught.value.why


def test_limits_of_pages_and_characters() -> None:
    many = pdf(*[show("あいう。", 72, 700)] * 3)
    with pytest.raises(Unreadable, match="2"):
        read("a.pdf", many, LoadLimits(pages=2))
    for name, data in (("a.pdf", many), ("a.txt", "あ" * 50)):
        with pytest.raises(Unreadable, match="10"):
            read(name, data, LoadLimits(characters=10))
