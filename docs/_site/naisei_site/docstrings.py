"""The project's docstrings as reStructuredText.

They are prose in which `backticks` mean code, with indented blocks of code, and sections
("Args:", "Raises:") of `name: what it is` with hanging lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

_SPAN = re.compile(r"(?<![`\w:])`([^`\n]+)`(?![`\w_])")
#: Outside code spans these would begin emphasis, references or substitutions.
_SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?=\W|$))")
_ITEM = re.compile(r"((?:\*{0,2}[\w.]+(?:, )?)+): (.*)")


def _inline(line: str) -> str:
    parts = _SPAN.split(line)
    for index, part in enumerate(parts):
        parts[index] = f"``{part}``" if index % 2 else _SPECIAL.sub(r"\\\1", part)
    return "".join(parts)


def _section(head: str, rows: list[str]) -> Iterator[str]:
    """A head and its items; a row that is indented further goes on with the one before."""
    title = head.rstrip(":").replace("`", "")
    yield from ("", f"**{_inline(title)}**", "")
    depth = min(len(row) - len(row.lstrip()) for row in rows)
    for row in rows:
        text = row[depth:]
        if text.startswith(" "):
            yield f"  {_inline(text.strip())}"
        elif item := _ITEM.fullmatch(text):
            yield f"- ``{item[1]}``: {_inline(item[2])}"
        else:
            yield f"- {_inline(text)}"
    yield ""


def _converted(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        block = lines[at + 1 : end]
        if line.startswith(" "):  # after an empty line: code
            while end < len(lines) and (lines[end].startswith(" ") or not lines[end]):
                end += 1
            yield from ("::", "", *lines[at:end], "")
        elif line.endswith(":") and block:
            yield from _section(line, block)
        else:
            yield _inline(line)
            yield from (_inline(row.strip()) for row in block)
        at = end


def _rewrite(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = list(_converted(lines))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _rewrite)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
