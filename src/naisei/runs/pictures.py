"""Charts as image files: PNG, SVG and PDF.

matplotlib (extra `plots`) is imported only here. The font for Japanese is IPAexGothic, which comes
with matplotlib-fontja, so that glyphs are never missing.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.files import written_beside
from naisei.lang import say
from naisei.runs.charts import Chart

FORMATS = (".png", ".svg", ".pdf")
#: Distinguishable by colour-blind readers, and by their markers in black and white.
#: Colours: Okabe and Ito, Color Universal Design (2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


def check_format(path: Path) -> None:
    """Raise `InputError` if the file extension is not a known format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            say(
                f"{path.suffix!r} という画像の形式は使えません",
                f"no picture format {path.suffix!r}",
            ),
            place=str(path),
            remedy=say(
                f"名前の終わりを {', '.join(FORMATS)} のどれかにしてください",
                f"end the name in {', '.join(FORMATS)}",
            ),
        )


def draw(chart: Chart, path: Path) -> None:
    """Save a chart in the format of the file extension. Raises `InputError` if matplotlib is
    missing, the extension is unknown, or the file cannot be written."""
    check_format(path)
    with needed_matplotlib().rc_context(style()):
        from matplotlib.figure import Figure

        size = (6.4, 3.6) if chart.lines else (6.4, 1.2 + 0.3 * len(chart.rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for n, (name, line) in enumerate(chart.lines.items()):
            colour = COLOURS[n % len(COLOURS)]
            for p in line:
                axes.plot([p.x, p.x], [p.low, p.high], color=colour, linewidth=1)
            axes.plot([p.x for p in line], [p.y for p in line], "o-", color=colour, label=name)
        for at, row in enumerate(reversed(chart.rows)):
            m = row.metric
            axes.plot([m.low, m.high], [at, at], color="#888888", linewidth=2)
            axes.plot([m.value], [at], "o", color=COLOURS[0])
        if chart.rows:
            axes.set_yticks(range(len(chart.rows)), [r.label for r in reversed(chart.rows)])
            axes.set_xlabel(chart.y)
        else:
            axes.set(xlabel=chart.x, ylabel=chart.y)
        if len(chart.lines) > 1:
            figure.legend(loc="outside lower center", ncols=min(len(chart.lines), 3))
        axes.set_title(chart.title)
        save(figure, path, {})


def style() -> dict[str, Any]:
    """Return settings for these charts only; global matplotlib settings are unchanged."""
    from matplotlib import font_manager

    path = str(_font())
    if path not in {font.fname for font in font_manager.fontManager.ttflist}:
        font_manager.fontManager.addfont(path)
    name = font_manager.FontProperties(fname=path).get_name()
    return {
        "font.family": [name, "DejaVu Sans"],
        "axes.unicode_minus": False,
        "svg.hashsalt": "naisei",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }


def needed_matplotlib() -> Any:
    if find_spec("matplotlib") is None or _font() is None:
        raise InputError(
            say(
                "図には matplotlib と matplotlib-fontja が要ります",
                "pictures need matplotlib and matplotlib-fontja",
            ),
            place="plot",
            remedy=say(
                'pip install "naisei[plots]" (--csv だけなら不要)',
                'pip install "naisei[plots]"; --csv alone needs none',
            ),
        )
    return import_module("matplotlib")


def _font() -> Path | None:
    """Return IPAexGothic without importing its package, which would set the font globally."""
    package = find_spec("matplotlib_fontja")
    file = Path(package.origin or "").parent / "fonts" / "ipaexg.ttf" if package else None
    return file if file is not None and file.is_file() else None


def save(figure: Any, path: Path, hover: dict[str, str]) -> None:
    dateless = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with written_beside(path) as scratch:
        figure.savefig(scratch, dpi=160, metadata=dateless.get(path.suffix.lower()))
        if path.suffix.lower() == ".svg":
            text = scratch.read_text(encoding="utf-8")
            for id, told in hover.items():
                mark = f'<g id="{id}">'
                text = text.replace(mark, f"{mark}<title>{escape(told)}</title>", 1)
            scratch.write_text(text, encoding="utf-8")
