"""Documents as Markdown, plain text and HTML."""

from __future__ import annotations

import html
import re
import unicodedata

from blocks import PAGE_BREAK, Block, Source, read_blocks

WRAP = 76
"""Columns of a wrapped plain text (old files are wrapped, newer ones are not)."""


def as_markdown(source: Source) -> str:
    """The markup is Markdown already; only the page breaks go."""
    return source.text.replace(f"{PAGE_BREAK}\n", "")


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "FWA" else 1 for c in text)


def _wrap(text: str, columns: int) -> list[str]:
    lines, line = [], ""
    for char in text:
        if line and _width(line + char) > columns and char not in "、。）」":
            lines.append(line)
            line = ""
        line += char
    return [*lines, line]


def _plain_table(rows: list[list[str]]) -> list[str]:
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    widths = [width + width % 2 for width in widths]

    def pad(cell: str, width: int) -> str:
        gap = width - _width(cell)
        return cell + " " * (gap % 2) + "　" * (gap // 2 + 1)

    return ["".join(map(pad, row, widths)).rstrip(" 　") for row in rows]


def as_plain(source: Source) -> str:
    """Headings are underlined or marked, tables set in columns; old encodings are wrapped."""
    columns = 10_000 if source.encoding.startswith("utf") else WRAP
    out: list[str] = []
    for block in read_blocks(source.text):
        if block.kind == "h1":
            out += [block.items[0], "=" * min(_width(block.items[0]), WRAP)]
        elif block.kind in {"h2", "h3"}:
            out += ["", block.items[0]]
        elif block.kind == "table":
            out += ["", *_plain_table(block.rows), ""]
        elif block.kind in {"ul", "ol"}:
            for n, item in enumerate(block.items, 1):
                mark = "・" if block.kind == "ul" else f"({n}) "
                out += _wrap(mark + item, columns)
        else:
            out += _wrap(block.items[0], columns)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip() + "\n"
    return text.replace("\n", "\r\n") if source.encoding == "shift_jis" else text


def _html_block(block: Block) -> str:
    if block.kind == "table":
        head, *body = block.rows

        def cells(row: list[str], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

        rows = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in body)
        return (
            f"<table>\n<thead><tr>{cells(head, 'th')}</tr></thead>\n"
            f"<tbody>\n{rows}\n</tbody>\n</table>"
        )
    if block.kind in {"ul", "ol"}:
        items = "\n".join(f"<li>{html.escape(item)}</li>" for item in block.items)
        return f"<{block.kind}>\n{items}\n</{block.kind}>"
    return f"<{block.kind}>{html.escape(block.items[0])}</{block.kind}>"


def as_html(source: Source) -> str:
    """A page of the portal: navigation and footer around the text, as a real one has."""
    blocks = [block for block in read_blocks(source.text) if block.kind != "page"]
    title = html.escape(blocks[0].items[0])
    body = "\n".join(_html_block(block) for block in blocks)
    return f"""<!DOCTYPE html>
<html lang="ja">
<head>
<meta charset="utf-8">
<title>{title} | 社内ポータル ナギサ</title>
<style>table {{ border-collapse: collapse }} td, th {{ border: 1px solid #999 }}</style>
</head>
<body>
<nav><a href="/">ホーム</a> <a href="/kitei">規程集</a> <a href="/faq">FAQ</a></nav>
<!-- 編集は総務部の承認後に反映 -->
<main>
{body}
</main>
<footer>© 株式会社あおなぎ計測　社外秘</footer>
</body>
</html>
"""
