"""The report of a script: one HTML page that needs nothing else, and its tables as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.director.tally import Tally, tables
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.report import templates
from naisei.runs.tables import to_csv
from naisei.runs.task import Table

__all__ = ["write_report"]

#: The drawing's size, in its own units.
_WIDTH, _HEIGHT = 720.0, 120.0
_HIGHEST_TONE = 3


def write_report(found: Tally, title: str, to: Path) -> list[Path]:
    """Write `report.html`, `characters.csv`, `checks.csv` and `worst.csv` into a folder.

    Raises:
        InputError: there was no line to report on, or the folder cannot be written.
    """
    if not found.total:
        raise InputError(
            say(
                "登録されているキャラクターの発言がありません", "holds no line of a known character"
            ),
            place=title,
            remedy=say(
                '1 行ずつ `やな: …` か {"speaker": "yana", "text": "…"} の形で書いてください',
                'write `やな: …` or {"speaker": "yana", "text": "…"} a line',
            ),
        )
    by_character, by_check = tables(found)
    page = _page(found, title, by_character, by_check)
    files = {
        "report.html": page,
        "characters.csv": to_csv(by_character),
        "checks.csv": to_csv(by_check),
        "worst.csv": to_csv(_worst_table(found)),
    }
    for name, text in files.items():
        write_atomically(to / name, text)
    return [to / name for name in files]


def _page(found: Tally, title: str, by_character: Table, by_check: Table) -> str:
    return (
        templates("naisei.director")
        .get_template("script.html")
        .render(
            title=Path(title).name,
            language=language(),
            notes=[],
            say=say,
            total=found.total,
            tables=[_shown(by_character, say("人物ごと", "By character"))],
            checks=_shown(by_check, say("人物と検査ごと", "By character and check")),
            characters=_bars(by_character),
            curves=[
                _curve(name, found.curves[who].points, found.curves[who].width)
                for who, name in found.names.items()
            ],
            worst=found.worst,
        )
    )


def _shown(table: Table, title: str) -> Table:
    """The three columns of a rate as one."""
    at = table.columns.index("PASS rate")
    rows = tuple(
        (*row[:at], f"{row[at]:.1%} ({row[at + 1]:.1%} – {row[at + 2]:.1%})", *row[at + 3 :])
        for row in table.rows
    )
    head = (*table.columns[:at], "PASS rate (95 %)", *table.columns[at + 3 :])
    return Table(title, head, rows, table.note)


def _bars(table: Table) -> list[dict[str, Any]]:
    """Where a character's pass rate and its interval lie, in percent."""
    bars = []
    for row in table.rows:
        name, _, *rates = row[:5]
        value, low, high = (round(100 * float(rate), 2) for rate in rates)
        bars.append(
            {"name": name, "value": value, "low": low, "high": high, "width": round(high - low, 2)}
        )
    return bars


def _curve(name: str, points: list[float], width: int) -> dict[str, Any]:
    """A line over the script: left its first line, up a higher tone score."""
    step = _WIDTH / max(len(points) - 1, 1)
    spots = [
        (round(at * step, 1), round(_HEIGHT * (1 - score / _HIGHEST_TONE), 1))
        for at, score in enumerate(points)
    ]
    grid = [
        {"score": score, "y": round(_HEIGHT * (1 - score / _HIGHEST_TONE), 1)}
        for score in range(_HIGHEST_TONE + 1)
    ]
    return {
        "name": name,
        "path": " ".join(f"{x},{y}" for x, y in spots),
        "spots": spots if len(spots) <= 60 else [],
        "grid": grid,
        "mean": sum(points) / len(points),
        "width": width,
        "last": len(points) * width,
    }


def _worst_table(found: Tally) -> Table:
    columns = ("line", "character", "status", "text", "check", "check status", "reason", "spans")
    rows = tuple(
        (w.number, w.speaker, w.status.value, w.text, name, status.value, reason, " / ".join(spans))
        for w in found.worst
        for name, status, reason, _, spans in w.checks
    )
    return Table("Worst lines", columns, rows)
