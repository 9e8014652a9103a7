"""Charts with intervals as SVG: small, without scripts; values appear on hover.

Colours are classes of the page's style sheet (`.chart`), so that a chart follows its theme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

from naisei.runs.tables import short as number
from naisei.runs.task import Metric, Table
from naisei.runs.words import worded

#: Sizes in the drawing's own units.
_LABEL, _WIDE, _ROW = 190, 640, 26
_LEFT, _RIGHT, _TOP, _HIGH = 44, 16, 14, 220
_SMALL = 380, 110
#: Number of distinct line colours.
_COLOURS = 6


@dataclass(frozen=True, slots=True)
class Interval:
    """A row: a value and its interval. link: target of a click."""

    label: str
    metric: Metric
    link: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line. low, high: its 95 % interval, NaN if there is none. title: hover
    text. link: target of a click. episode, find: used to build the link: the episode, and words
    from its source."""

    x: float
    y: float
    low: float = math.nan
    high: float = math.nan
    title: str = ""
    link: str = ""
    episode: str = ""
    find: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines by name over common axes, or rows with their intervals. x, y: axis labels.
    bounds: range of y, if known; see `line_chart`."""

    title: str
    lines: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    x: str = ""
    y: str = ""
    bounds: tuple[float, float] | None = None
    rows: Sequence[Interval] = ()

    def svg(self, *, small: bool = False) -> str:
        """Return the SVG. small: narrow, with a dot only at the last point of a line."""
        if self.rows:
            return interval_chart(self.rows, title=f"{self.title}: {self.y}")
        axes = {"x": self.x, "y": self.y}
        return line_chart(self.lines, title=self.title, bounds=self.bounds, small=small, **axes)

    def _repr_html_(self) -> str:
        return self.svg()

    def file(self) -> str:
        """Return the SVG as a standalone file."""
        head, _, rest = (self.svg() or f"{_head(self.title, _HIGH)}</svg>").partition(">")
        head = head.removeprefix("<svg")
        return f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{_STYLE}</style>{rest}\n'


def table_chart(table: Table) -> Chart | None:
    """Draw a table that has a value and its interval in three columns: as lines if its first
    column is an increasing number, else one row each. Returns `None` for other tables."""
    if "metric" in table.columns[1:] and table.rows:  # only the first of several metrics
        at = table.columns.index("metric")
        table = replace(table, rows=tuple(r for r in table.rows if r[at] == table.rows[0][at]))
        table = replace(table, title=f"{table.title}: {table.rows[0][at]}")
    low = next((n for n, c in enumerate(table.columns) if c.endswith("low") and n > 1), None)
    if low is None or len(table.rows) < 2 or not table.columns[low + 1 :][:1]:
        return None
    numbers = [row[low - 1 : low + 2] for row in table.rows]
    if not all(isinstance(v, int | float) for cells in numbers for v in cells):
        return None
    kept = [(row, [float(v) for v in row[low - 1 : low + 2]]) for row in table.rows]
    kept = [(row, cells) for row, cells in kept if cells[0] == cells[0]]
    if len(kept) < 2:
        return None
    title, y = worded(table.title), worded(table.columns[low - 1])
    for x in (0, 1):  # with several lines, the first column is the name
        if x < low - 1 and all(isinstance(row[x], int | float) for row, _ in kept):
            lines: dict[str, list[Point]] = {}
            for row, cells in kept:
                name = str(row[0]) if x else y
                value, down, up = cells
                lines.setdefault(name, []).append(Point(float(row[x]), value, down, up))
            if all(len(line) == len({p.x for p in line}) > 1 for line in lines.values()):
                return Chart(title, lines, worded(table.columns[x]), y)
    rows = [
        Interval(worded(str(row[0])), _metric(y, cells, _count(table, row))) for row, cells in kept
    ]
    return Chart(title, y=y, rows=rows)


def _metric(name: str, cells: Sequence[float], n: int) -> Metric:
    value, low, high = cells
    return Metric(name, value, low, high, n)


def _count(table: Table, row: Sequence[str | float | int]) -> int:
    found = row[table.columns.index("n")] if "n" in table.columns else 0
    return int(found) if isinstance(found, int | float) else 0


def interval_chart(rows: Sequence[Interval], *, title: str) -> str:
    """Draw one row each: a dot for the value, a bar for the interval, on a common scale."""
    ends = [v for r in rows for v in (r.metric.value, r.metric.low, r.metric.high) if v == v]
    low, high = _scale(ends)
    height = _ROW * len(rows) + 24

    def at(value: float) -> float:
        return round(_LABEL + (value - low) / (high - low) * (_WIDE - _LABEL - 60), 1)

    out = [_head(title, height), f'<path class="axis" d="M{_LABEL} {height - 20}H{_WIDE - 60}"/>']
    for value, anchor in ((low, "start"), (high, "end")):
        out.append(
            f'<text x="{at(value)}" y="{height - 5}" text-anchor="{anchor}">{number(value)}</text>'
        )
    for n, row in enumerate(rows):
        y, m = _ROW * n + 12, row.metric
        spread = f" [{number(m.low)}, {number(m.high)}]" if m.low < m.high else ""
        out.append(f"<g><title>{escape(row.label)}: {number(m.value)}{spread}, n = {m.n}</title>")
        out.append(f'<text x="0" y="{y + 4}">{escape(_cut(row.label))}</text>')
        if m.low < m.high:
            out.append(f'<path class="spread" d="M{at(m.low)} {y}H{at(m.high)}"/>')
        out.append(f'<circle class="dot" cx="{at(m.value)}" cy="{y}" r="4"/>')
        out.append(f'<text x="{_WIDE - 52}" y="{y + 4}">{number(round(m.value, 3))}</text></g>')
    return "".join([*out, "</svg>"])


def line_chart(
    lines: Mapping[str, Sequence[Point]],
    *,
    title: str,
    x: str,
    y: str,
    bounds: tuple[float, float] | None = None,
    small: bool = False,
) -> str:
    """Draw named lines over a common axis, with a whisker at each point that has an interval.

    x, y: axis labels. bounds: range of y; by default that of the points. small: see
    `Chart.svg`. NaN points are left out.
    """
    drawn = {name: [p for p in line if p.y == p.y] for name, line in lines.items()}
    kept = {name: line for name, line in drawn.items() if line}
    points = [p for line in kept.values() for p in line]
    if not points:
        return ""
    left, right = min(p.x for p in points), max(p.x for p in points)
    low, high = bounds or _scale([v for p in points for v in (p.y, p.low, p.high) if v == v])
    wide, ground = _SMALL if small else (_WIDE, _HIGH)

    def at(across: float, up: float) -> tuple[float, float]:
        width = wide - _LEFT - _RIGHT
        return (
            round(_LEFT + (across - left) / ((right - left) or 1) * width, 1),
            round(_TOP + (high - up) / (high - low) * (ground - _TOP), 1),
        )

    height = ground + 24 + 18 * len(kept) * (len(lines) > 1)
    out = [
        _head(title, height, wide, group=any(p.link for p in points)),
        f'<path class="axis" d="M{_LEFT} {_TOP}V{ground}H{wide - _RIGHT}"/>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 6}" text-anchor="end">{number(high)}</text>',
        f'<text x="{_LEFT - 6}" y="{ground}" text-anchor="end">{number(low)}</text>',
        f'<text x="{_LEFT}" y="{ground + 16}">{number(left)}</text>',
        f'<text x="{wide - _RIGHT}" y="{ground + 16}" text-anchor="end">{number(right)}</text>',
        f'<text x="{wide // 2}" y="{ground + 16}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="{_LEFT + 6}" y="{_TOP + 6}">{escape(y)}</text>',
    ]
    for n, (name, line) in enumerate(kept.items()):
        out.append(f'<g class="line c{n % _COLOURS}">')
        path = " ".join("{:g},{:g}".format(*at(p.x, p.y)) for p in line)
        out.append(f'<polyline points="{path}"/>')
        out += [_point(p, at(p.x, p.y), at) for p in (line[-1:] if small else line)]
        if len(lines) > 1:
            below = ground + 36 + 18 * n
            out.append(f'<text x="{_LEFT}" y="{below}">● {escape(_cut(name))}</text>')
        out.append("</g>")
    return "".join([*out, "</svg>"])


#: Styles of standalone charts, copied from the pages.
_STYLE = (
    "text{font:12px sans-serif}.axis{fill:none;stroke:#888}.line polyline{fill:none;stroke:"
    "currentColor}.line{fill:currentColor}.spread{stroke:#888;stroke-width:2}.dot{fill:#3b6ea8}"
    + "".join(
        f".c{n}{{color:{colour}}}"
        for n, colour in enumerate(("#3b6ea8", "#c0563f", "#4c8a4a", "#7a5ca8"))
    )
)


def _point(p: Point, middle: tuple[float, float], at: object) -> str:
    assert callable(at)
    spread = ""
    words = p.title or f"{number(p.x)}: {number(p.y)}"
    if p.low < p.high:
        (x, top), (_, bottom) = at(p.x, p.high), at(p.x, p.low)
        spread = f'<path class="spread" d="M{x} {top}V{bottom}"/>'
        words += f" [{number(p.low)}, {number(p.high)}]"
    x, y = middle
    title = f"<title>{escape(words)}</title>"
    drawn = f'{spread}<circle class="dot" cx="{x}" cy="{y}" r="4">{title}</circle>'
    return (
        f'<a href="{escape(p.link)}" aria-label="{escape(words)}">{drawn}</a>' if p.link else drawn
    )


def _head(title: str, height: float, wide: int = _WIDE, *, group: bool = False) -> str:
    """Return the opening tag. group: the SVG contains links, which an image must not."""
    return (
        f'<svg class="chart" viewBox="0 0 {wide} {height:g}" role="{"group" if group else "img"}" '
        f'aria-label="{escape(title)}">'
    )


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """Return 0 to 1 for proportions; else minimum to maximum, including 0 if it is near."""
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    if 0 <= low <= high / 2:
        low = 0.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _cut(text: str) -> str:
    return text if len(text) <= 26 else text[:25] + "…"
