"""Documents as PDF (reportlab, IPAexGothic embedded as a subset) and as Word files."""

from __future__ import annotations

import datetime
import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import docx
import matplotlib_fontja
from blocks import Block, Source, read_blocks
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

FONT = "IPAexGothic"
STAMP = datetime.datetime(2025, 4, 1, 9, 0)
SIZES = {"h1": (16, 24), "h2": (12, 20), "h3": (11, 18), "p": (10, 17), "cell": (9, 13)}


def _styles() -> dict[str, ParagraphStyle]:
    return {
        name: ParagraphStyle(
            name,
            fontName=FONT,
            fontSize=size,
            leading=leading,
            wordWrap="CJK",
            spaceBefore=8 if name in {"h2", "h3"} else 0,
            spaceAfter=6 if name == "h1" else 3,
        )
        for name, (size, leading) in SIZES.items()
    }


def _flowables(block: Block, styles: dict[str, ParagraphStyle]) -> list[object]:
    if block.kind == "page":
        return [PageBreak()]
    if block.kind == "table":
        cells = [[Paragraph(escape(c), styles["cell"]) for c in row] for row in block.rows]
        weights = [max(len(row[i]) for row in block.rows) + 3 for i in range(len(cells[0]))]
        total = min(165 * mm, sum(weights) * 4 * mm)
        widths = [total * weight / sum(weights) for weight in weights]
        grid = [
            ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
            ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
        ]
        table = Table(cells, colWidths=widths, style=grid, hAlign="LEFT")
        return [Spacer(1, 4), table, Spacer(1, 6)]
    if block.kind in {"ul", "ol"}:
        marks = ["・" if block.kind == "ul" else f"{n}. " for n in range(1, 50)]
        return [
            Paragraph(escape(m + i), styles["p"]) for m, i in zip(marks, block.items, strict=False)
        ]
    return [Paragraph(escape(block.items[0]), styles[block.kind])]


def as_pdf(source: Source) -> bytes:
    """A4 pages with the company's name above and the page number below."""
    rl_config.invariant = 1
    font = Path(matplotlib_fontja.__file__).parent / "fonts" / "ipaexg.ttf"
    pdfmetrics.registerFont(TTFont(FONT, str(font)))
    blocks = read_blocks(source.text)
    styles, story = _styles(), []
    for block in blocks:
        story += _flowables(block, styles)

    def frame(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.setFont(FONT, 8)
        canvas.drawString(22 * mm, 285 * mm, "株式会社あおなぎ計測 社内規程集")
        canvas.drawCentredString(105 * mm, 10 * mm, f"- {document.page} -")

    out = io.BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin"), 22 * mm)
    document = SimpleDocTemplate(out, pagesize=A4, title=blocks[0].items[0], **margins)
    document.build(story, onFirstPage=frame, onLaterPages=frame)
    return out.getvalue()


def as_docx(source: Source) -> bytes:
    """Word's own heading, list and table styles; fixed time stamps, so that it can be rebuilt."""
    document = docx.Document()
    blocks = read_blocks(source.text)
    for block in blocks:
        if block.kind == "page":
            document.add_page_break()
        elif block.kind == "table":
            table = document.add_table(len(block.rows), len(block.rows[0]), style="Table Grid")
            for cells, row in zip(table.rows, block.rows, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
        elif block.kind.startswith("h"):
            document.add_heading(block.items[0], int(block.kind[1]) - 1)
        else:
            style = {"ul": "List Bullet", "ol": "List Number"}.get(block.kind)
            for item in block.items:
                document.add_paragraph(item, style)
    about = document.core_properties
    about.title, about.author, about.language = blocks[0].items[0], "株式会社あおなぎ計測", "ja-JP"
    about.created = about.modified = STAMP
    relations = document.part.package.rels
    for key in [key for key, rel in relations.items() if rel.reltype.endswith("/thumbnail")]:
        del relations[key]  # the template's picture: of another document
    raw = io.BytesIO()
    document.save(raw)
    return _fixed_zip(raw)


def _fixed_zip(raw: io.BytesIO) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, STAMP.timetuple()[:6])
            new.writestr(entry, old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()
