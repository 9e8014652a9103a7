"""The text of a handbook file as a reader sees it; independent of naisei's own loaders."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import docx
import pypdfium2
from docx.table import Table

ENCODINGS = ("utf-8-sig", "shift_jis", "euc_jp")


class _Visible(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in {"style", "script", "head"}
        if tag in {"td", "th"}:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"style", "script", "head"}
        if tag not in {"td", "th"}:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data.strip("\n"))


def read_text(path: Path) -> str:
    """The whole text; table cells are separated by a space, rows by a line break."""
    data = path.read_bytes()
    if path.suffix == ".pdf":
        with pypdfium2.PdfDocument(data) as pdf:
            return "\n".join(page.get_textpage().get_text_range() for page in pdf)
    if path.suffix == ".docx":
        return "\n".join(_docx_lines(path))
    for encoding in ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        break
    else:
        raise ValueError(f"unknown encoding: {path}")
    if path.suffix == ".html":
        parser = _Visible()
        parser.feed(text)
        return "".join(parser.parts)
    return text


def _docx_lines(path: Path) -> list[str]:
    lines = []
    for item in docx.Document(str(path)).iter_inner_content():
        if isinstance(item, Table):
            lines += [" ".join(cell.text for cell in row.cells) for row in item.rows]
        else:
            lines.append(item.text)
    return lines


def fold(text: str) -> str:
    """Width folded, white space and Markdown's cell bars left out: what quotes are compared by."""
    return re.sub(r"[\s|]+", "", unicodedata.normalize("NFKC", text))
