"""Small PDF files, written by hand: pieces of content for each page, one Japanese font."""

from __future__ import annotations


def show(text: str, x: float, y: float, size: float = 11, *, before: str = "") -> str:
    """Operators that draw a text; before: others within its own state (`1 g`, `3 Tr`, …)."""
    code = text.encode("utf-16-be").hex()
    return f"q {before} BT /F1 {size} Tf {x} {y} Td <{code}> Tj ET Q\n"


def pdf(*pages: str) -> bytes:
    """A4 pages with these operators."""
    kids = " ".join(f"{6 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiKakuGo-W5 /Encoding /UniJIS-UCS2-H "
        "/DescendantFonts [4 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiKakuGo-W5 /DW 1000 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> "
        "/FontDescriptor 5 0 R >>",
        "<< /Type /FontDescriptor /FontName /HeiseiKakuGo-W5 /Flags 4 /ItalicAngle 0 "
        "/FontBBox [-92 -250 1010 922] /Ascent 752 /Descent -221 /CapHeight 737 /StemV 114 >>",
    ]
    for n, page in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {7 + 2 * n} 0 R >>"
        )
        objects.append(f"<< /Length {len(page)} >>\nstream\n{page}\nendstream")
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        out
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode("ascii")
        + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n".encode("ascii")
        + f"startxref\n{len(out)}\n%%EOF".encode("ascii")
    )
