"""The terminal: all output for people goes through `Console`.

Data are printed unchanged. Text of users and models is never interpreted as markup (`[bold]`), as
the name of an emoji (`:hand:`), or as an escape sequence that moves the cursor or colours the
screen. Styles are given with `style=` or as `Text`.

Text without spaces is wrapped too: between two full-width characters, but not before a closing mark
nor after an opening one (JIS X 4051, basic line breaking). Nothing is ever truncated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from rich import console as _console
from rich import panel as _panel
from rich.cells import cell_len, chop_cells
from rich.console import ConsoleOptions, RenderableType
from rich.containers import Lines
from rich.measure import Measurement
from rich.segment import Segment
from rich.text import Text

from naisei.invisible import INVISIBLE

#: Escape sequences (ECMA-48: CSI, OSC and the like, others), then single control characters except
#: tab and newline, marks that change the direction of text (Unicode UAX 9) and invisible
#: characters.
_CONTROL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-Z\\^-~]"
    rf"|[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}]"
)
#: Those that JSON does not escape.
_OBEYED = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WIDE = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003ffff"
_OPENING = "（「『【〔［｛〈《｟“‘"
_CLOSING = (
    "）」』】〕］｝〉》｠”’、。，．・：；！？…‥ー〜～々ゝゞヽヾ％℃"
    "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ"
    r",.:;!?)\]}%"
)
#: A stretch without an allowed line break, with the spaces after it.
_PIECE = re.compile(
    rf"[{_OPENING}(\[{{]*(?:[{_WIDE}]|[^\s{_WIDE}]*[^\s{_WIDE}(\[{{])?[{_CLOSING}]*\s*"
)


def visible(text: str) -> str:
    """The text without escape sequences and control characters; tabs and newlines stay."""
    return _CONTROL.sub("", text)


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON without any terminal control characters: those that JSON leaves unescaped
    are escaped, with the same meaning. NaN and infinities are written as in Python."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def breaks(line: str, width: int) -> list[int]:
    """Offsets in characters at which to break a line so that every part fits into `width` cells.

    Spaces at a break may exceed the width. A single word wider than the line is split at the width.
    """
    width = max(width, 2)  # a full-width character needs two cells
    offsets: list[int] = []
    used = 0
    for piece in _PIECE.finditer(line):
        text, start = piece[0], piece.start()
        wide = cell_len(text.rstrip())
        if used and used + wide > width:
            offsets.append(start)
            used = 0
        if wide > width:
            parts = chop_cells(text.rstrip(), width)
            for part in parts[:-1]:
                start += len(part)
                offsets.append(start)
            text = text[start - piece.start() :]
        used += cell_len(text)
    return offsets


class _Wrapped(Text):
    """Text that is sanitised, and wrapped by `breaks`."""

    @classmethod
    def of(cls, text: Text) -> _Wrapped:
        if _CONTROL.search(text.plain):
            text = _without_controls(text)
        return cls._like(text)

    @classmethod
    def _like(cls, text: Text) -> _Wrapped:
        return cls(
            text.plain,
            style=text.style,
            justify=text.justify,
            overflow=text.overflow,
            no_wrap=text.no_wrap,
            end=text.end,
            tab_size=text.tab_size,
            spans=list(text.spans),
        )

    def wrap(
        self,
        console: _console.Console,
        width: int,
        *,
        justify: _console.JustifyMethod | None = None,
        overflow: _console.OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        if no_wrap or (no_wrap is None and self.no_wrap) or overflow == "ignore":
            return super().wrap(
                console,
                width,
                justify=justify,
                overflow=overflow,
                tab_size=tab_size,
                no_wrap=no_wrap,
            )
        lines = Lines()
        for line in self.split(allow_blank=True):
            if "\t" in line:
                line.expand_tabs(tab_size)
            parts = line.divide(breaks(line.plain, width))
            for part in parts:
                part.rstrip_end(width)
            if (how := justify or self.justify or "default") != "default":
                parts.justify(console, width, justify=how, overflow="fold")
            lines.extend(parts)
        return lines

    def __rich_measure__(self, console: _console.Console, options: ConsoleOptions) -> Measurement:
        lines = self.plain.splitlines()
        whole = max(map(cell_len, lines), default=0)
        pieces = (cell_len(p.rstrip()) for line in lines for p in _PIECE.findall(line))
        return Measurement(max(pieces, default=0), whole)


def _without_controls(text: Text) -> Text:
    cuts = [at for found in _CONTROL.finditer(text.plain) for at in found.span()]
    parts = text.divide(sorted({*cuts}))
    kept = [p for p in parts if not _CONTROL.fullmatch(p.plain)]
    whole = text.blank_copy()
    for part in kept:
        whole.append_text(part)
    return whole


class Console(_console.Console):
    """rich's console for untrusted text; see the module."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **options})

    def render_str(self, text: str, **options: Any) -> Text:
        return _Wrapped.of(super().render_str(visible(text), **options))

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if type(renderable) is Text:
            renderable = _Wrapped.of(renderable)
        return super().render(renderable, options)


class Panel(_panel.Panel):
    """rich's panel, with a plain title."""

    def __init__(self, renderable: RenderableType, **options: Any) -> None:
        for name in ("title", "subtitle"):
            if isinstance(title := options.get(name), str):
                options[name] = Text(visible(title))
        super().__init__(renderable, **options)


def print_wrapped(console: Console, text: str | Text, *, style: str = "", indent: int = 0) -> int:
    """Print a paragraph; returns its number of rows. indent: columns by which rows after the first
    are indented."""
    line = Text(text, style=style) if isinstance(text, str) else text
    rows = line.divide(breaks(line.plain, console.width - indent))
    for at, row in enumerate(rows):
        row.rstrip()
        console.print(Text(" " * indent if at else "") + row)
    return len(rows)
