"""The rows of an HTML table, with cells that span several written into each."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from naisei.retrieval.loaders.blocks import one_line

__all__ = ["read_table"]

_WIDEST, _LONGEST = 100, 20_000


def read_table(table: LexborNode) -> tuple[list[list[str]], bool]:
    """(rows of cells, whether the first is a header)."""
    rows: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}
    header: bool | None = None
    any_head = table.css_first("th") is not None
    for line in table.css("tr"):
        if len(rows) >= _LONGEST or not _own(line, table):
            continue
        cells = [cell for cell in line.iter() if cell.tag in ("td", "th")]
        if header is None and cells:
            heads = all(cell.tag == "th" for cell in cells)
            header = (
                heads or not any_head or (line.parent is not None and line.parent.tag == "thead")
            )
        rows.append(_cells(cells, down))
    return rows, bool(header)


def _cells(cells: list[LexborNode], down: dict[int, tuple[int, str]]) -> list[str]:
    """down: column → (rows still to come, text) of the cells that reach into this row."""
    found: list[str] = []

    def reaching() -> None:
        while len(found) in down:
            left, text = down.pop(len(found))
            if left > 1:
                again[len(found)] = (left - 1, text)
            found.append(text)

    again: dict[int, tuple[int, str]] = {}
    for cell in cells:
        reaching()
        text = one_line(" ".join(cell.text(separator=" ").split()))
        for _ in range(_span(cell, "colspan", _WIDEST)):
            if (rows := _span(cell, "rowspan", _LONGEST)) > 1:
                again[len(found)] = (rows - 1, text)
            found.append(text)
        if len(found) >= _WIDEST:
            break
    reaching()
    down.clear()
    down.update(again)
    return found


def _span(cell: LexborNode, name: str, most: int) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(most, max(1, int(value))) if value.isascii() and value.isdigit() else 1


def _own(line: LexborNode, table: LexborNode) -> bool:
    """Whether the row is of this table and not of one inside it."""
    at = line.parent
    while at is not None and at.tag != "table":
        at = at.parent
    return at is not None and at.mem_id == table.mem_id
