"""Plots readings over a conversation (extra `plots`), and tabulates them."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import language, say, speaking
from naisei.relationship.schemas import WAYS
from naisei.relationship.series import Point, Series, aligned, read_series
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, NAMES_JA, degree, signed
from naisei.runs.pictures import COLOURS, check_format, needed_matplotlib, save, style
from naisei.runs.tables import to_csv
from naisei.runs.task import Table
from naisei.system.config import Options, flag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of `table`.
COLUMNS = (
    *("label", "session", "turn", "at", "direction", "src", "dst", "dimension"),
    *("value", "low", "high", "repeats", "carried", "injected"),
)
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
#: Vertical offset between lines with equal readings.
_ASIDE = 0.07
_STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


def draw(series: Sequence[Series], to: Sequence[Path], *, title: str = "") -> None:
    """Draw one conversation (a panel per dimension with both directions), or compare several (a
    panel per direction and dimension). Bands span the minimum and maximum of repeated ratings.

    Raises:
        InputError: matplotlib is missing, the file format is unknown, or a file cannot be written.
    """
    for path in to:
        check_format(path)
    matplotlib = needed_matplotlib()
    series = aligned(series)
    # Labels are in the conversation's language. One figure per file, since the layout is fixed by
    # the first format written.
    with matplotlib.rc_context(style()), speaking(series[0].language or language()):
        for path in to:
            hover: dict[str, str] = {}
            save(_figure(series, title, hover), path, hover)


def _figure(series: Sequence[Series], title: str, hover: dict[str, str]) -> Any:
    # pyplot would retain every figure in memory and look for a display.
    from matplotlib.figure import Figure

    columns = 1 if len(series) == 1 else 2
    longest = max(last for _, last in series[0].sessions.values())
    width = min(max(7.0, 0.16 * longest + 3.0), 20.0) * (1.0 if columns == 1 else 1.35)
    figure = Figure(figsize=(width, 7.6), layout="constrained")
    grid: Any = figure.subplots(len(DIMENSIONS), columns, sharex=True, squeeze=False)
    for row, dimension in enumerate(DIMENSIONS):
        for column in range(columns):
            axes = grid[row][column]
            if columns == 1:
                for n, way in enumerate(WAYS):
                    _line(axes, series[0], way, dimension, (n, 2), series[0].way(way), hover)
            else:
                for n, one in enumerate(series):
                    _line(axes, one, WAYS[column], dimension, (n, len(series)), one.label, hover)
                if row == 0:
                    axes.set_title(_heading(series, column), fontsize=11, pad=18)
            _frame(axes, series, dimension, first=column == 0)
    for axes in grid[-1]:
        axes.set_xlabel(say("発話（各回の中での順）", "utterance of the session"))
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4))
    figure.suptitle(title or " ・ ".join(dict.fromkeys(map(_who, series))), fontsize=12)
    return figure


def _line(
    axes: Axes,
    one: Series,
    way: Any,
    dimension: str,
    nth: tuple[int, int],
    label: str,
    hover: dict[str, str],
) -> None:
    n, of = nth
    offset = (n - (of - 1) / 2) * min(_ASIDE, 0.4 / of)
    colour, mark, style = (
        COLOURS[n % len(COLOURS)],
        _MARKS[n % len(_MARKS)],
        _STYLES[n % len(_STYLES)],
    )
    for order, number in enumerate(one.sessions):
        points = [p for p in one.points if p.session == number]
        x = [p.at for p in points]
        reads = [p.reads[way] for p in points]
        y = [read.values[dimension] + offset for read in reads]
        fresh = [k for k, read in enumerate(reads) if not read.carried]
        axes.plot(
            x,
            y,
            color=colour,
            linestyle=style,
            marker=mark,
            markersize=4.5 if len(one.points) < 60 else 2.5,
            markevery=fresh,
            linewidth=1.6,
            label=label if order == 0 else "_",
            zorder=3,
            clip_on=False,
        )
        for k in fresh:
            if (text := _hover_text(one, points[k], way, dimension)) != "":
                id = f"naisei-{len(hover)}"
                hover[id] = text
                axes.plot(x[k], y[k], marker="o", markersize=9, alpha=0, gid=id, zorder=4)
        if any(read.repeats > 1 for read in reads):
            lows = [read.lows[dimension] for read in reads]
            highs = [read.highs[dimension] for read in reads]
            axes.fill_between(x, lows, highs, color=colour, alpha=0.18, linewidth=0, zorder=2)


def _frame(axes: Axes, series: Sequence[Series], dimension: str, *, first: bool) -> None:
    axes.set_ylim(LOW - 0.25, HIGH + 0.25)
    axes.set_yticks(range(LOW, HIGH + 1))
    spoken = language()
    words = [f"{degree(dimension, v, spoken)} {signed(v)}" for v in range(LOW, HIGH + 1)]
    axes.set_yticklabels(words if first else [signed(v) for v in range(LOW, HIGH + 1)], fontsize=8)
    axes.axhline(0, color="#666666", linewidth=0.9, zorder=1)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    if first:
        axes.set_ylabel(say(f"{NAMES_JA[dimension]}\n({dimension})", dimension))
    sessions = series[0].sessions
    step = max(1, math.ceil(max(last for _, last in sessions.values()) / 24))
    ticks = [
        (begins + k, str(k))
        for begins, last in sessions.values()
        for k in range(last - begins + 1)
        if k % step == 0 and (k or any(p.start for one in series for p in one.points))
    ]
    axes.set_xticks([place for place, _ in ticks], [text for _, text in ticks], fontsize=8)
    for order, (number, (begins, _)) in enumerate(sessions.items()):
        if order:
            axes.axvline(begins - 0.5, color="#888888", linewidth=0.8, linestyle=":", zorder=1)
        if dimension == DIMENSIONS[0] and len(sessions) > 1:
            axes.annotate(
                say(f"第{number}回", f"session {number}"),
                (begins - 0.3, HIGH + 0.3),
                fontsize=8,
                color="#555555",
                va="bottom",
                annotation_clip=False,
            )


def _heading(series: Sequence[Series], column: int) -> str:
    named = {one.way(WAYS[column]) for one in series}
    return named.pop() if len(named) == 1 else ("A → B", "B → A")[column]


def _who(one: Series) -> str:
    return one.label if one.names == ("A", "B") else " ↔ ".join(one.names)


def _hover_text(one: Series, point: Point, way: Any, dimension: str) -> str:
    """Hover text of a point: turn, value in numbers and words, and the reason with its evidence."""
    read = point.reads[way]
    value = read.values[dimension]
    if math.isnan(value):
        return ""
    word = degree(dimension, round(value), language())
    place = say(f"第{point.session}回 {point.turn + 1}", f"{point.session}-{point.turn + 1}")
    why = f"\n{read.reasons[dimension]}" if dimension in read.reasons else ""
    return f"{place}  {one.way(way)}  {value:+.4g} {word}{why}"


def table(series: Sequence[Series]) -> Table:
    """One row per point, direction and dimension; cells of a missing reading are empty."""
    rows: list[tuple[str | float | int, ...]] = []
    for one in series:
        for point in one.points:
            when = "session_start" if point.start else "after_turn"
            injected = "" if point.injected is None else int(point.injected)
            for way, ends in zip(WAYS, (one.names, one.names[::-1]), strict=True):
                read = point.reads[way]
                head = (one.label, point.session, point.turn, when, way, *ends)
                tail = (read.repeats, int(read.carried), injected)
                rows += [
                    (*head, name, read.values[name], read.lows[name], read.highs[name], *tail)
                    for name in DIMENSIONS
                ]
    return Table("Readings", COLUMNS, tuple(rows))


class PlotOptions(Options):
    """Flags of `naisei relationship plot`."""

    files: tuple[str, ...] = flag(
        ...,
        "agent_a.json、またはそれのあるフォルダー。複数なら重ねて比べる",
        "agent_a.json or its folder; several are compared.",
        argument=True,
        metavar="FILE…",
    )
    labels: tuple[str, ...] = flag(
        (),
        "ファイルごとの名前 (続けて並べる)",
        "A name per file, in the same order.",
        metavar="NAME…",
    )
    out: tuple[Path, ...] = flag(
        (),
        "書き出す図 (.png, .svg, .pdf。繰り返し可。既定: rr_plot.png)",
        "Output file: .png, .svg or .pdf; repeatable; rr_plot.png by default.",
        short="-o",
        metavar="FILE",
    )
    csv: bool = flag(
        False,
        "値を CSV に書き出す (-o がなければ図は描かない)",
        "Write the values as CSV; no plot unless -o is given.",
    )
    title: str = flag("", "図の題", "Title of the plot.")


def plot_command(options: PlotOptions) -> None:
    """`naisei relationship plot`."""
    paths, names = _apart(options.files, options.labels)
    series = [
        read_series(path, name)
        for path, name in zip(paths, names or [""] * len(paths), strict=True)
    ]
    for one in series:
        for note in one.notes:
            print(f"naisei: {note}", file=sys.stderr)
    pictures = [*options.out] or ([] if options.csv else [Path("rr_plot.png")])
    if pictures:
        draw(series, pictures, title=options.title)
    written = list(pictures)
    if options.csv:
        to = (pictures[0] if pictures else Path("rr_plot")).with_suffix(".csv")
        write_atomically(to, to_csv(table(series)))
        written.append(to)
    for path in written:
        print(path)


def _apart(arguments: Sequence[str], labels: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Separate files from labels: in `--labels A B` the parser passes `B` as a file."""
    if not labels:
        return [Path(name) for name in arguments], []
    files = [Path(name) for name in arguments if Path(name).exists()]
    names = [*labels, *(name for name in arguments if not Path(name).exists())]
    if len(files) != len(names):
        paths = ", ".join(map(str, files)) or "–"
        raise InputError(
            say(
                f"ファイル {len(files)} 個 ({paths}) に名前が {len(names)} 個 ({', '.join(names)})",
                f"{len(files)} files ({paths}) and {len(names)} labels ({', '.join(names)})",
            ),
            place="--labels",
            remedy=say(
                "存在するファイルを先に並べ、同じ数の名前を --labels の後に並べてください",
                "list files that exist, then --labels and as many names",
            ),
        )
    return files, names
