"""Reports, comparisons and exports."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.lang import speaking
from naisei.runs.compare import compare
from naisei.runs.directory import RunDirectory
from naisei.runs.report import csv_report, html_report, markdown_report, write_study
from naisei.runs.show import export_csv, export_jsonl
from naisei.runs.tables import number, to_csv, to_markdown
from naisei.runs.task import Summary, Table

Run = Callable[..., Any]


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


@pytest.fixture
def report(tmp_path: Path, run_toy: Run, toy: Any) -> str:
    world = toy.model(fails=lambda where: where.instance == "i2")
    run_toy(tmp_path / "r", world=world)
    return (tmp_path / "r/report.html").read_text(encoding="utf-8")


def test_the_page_shows_japanese_and_escapes_what_others_wrote(report: str) -> None:
    page = _Page(report)
    shown = " ".join(page.shown)
    assert "利用者: ちょっと休憩しようかな" in shown and "<script>alert(1)</script>" in shown
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "i", "b", "link", "img", "iframe"}
    assert '"Noto Sans CJK JP"' in report and "prefers-color-scheme: dark" in report


def test_the_page_needs_nothing_else(report: str) -> None:
    assert not re.search(r"https?://|url\(|@import|\ssrc=", report)


def test_the_page_says_what_was_not_measured(report: str) -> None:
    shown = re.sub(r"\s+", " ", " ".join(_Page(report).shown))
    assert "3 of 4 episodes scored" in shown and "Unscored episodes: 1 of 4" in shown
    assert "InstrumentFailure: HTTP 500" in shown
    assert "k = 3, but one trial <was> run" in shown
    # The unscored episode's transcript comes first.
    summaries = re.findall(r"<summary>(.*?)</summary>", report)
    assert summaries[0] == "i2#0" and len(summaries) == 4


def test_interval_bars_lie_on_their_scale(report: str) -> None:
    bars = [a for tag, a in _Page(report).tags if tag == "rect" and a["class"] == "interval"]
    assert len(bars) == 1
    x, width = float(bars[0]["x"] or "nan"), float(bars[0]["width"] or "nan")
    assert x >= 0 and width >= 0 and x + width <= 100


def test_markdown(tmp_path: Path, run_toy: Run) -> None:
    run_toy(tmp_path / "r")
    with RunDirectory.look(tmp_path / "r") as directory:
        text = markdown_report(directory)
    assert "4 of 4 episodes scored" in text and "| pass@3 | – |" in text
    assert "| i0 | x\\|y |" in text


def test_tables_as_text() -> None:
    table = Table("t", ("名前", "value"), (("甘い,\n緑茶", 0.1), ("b", math.nan), ("c", 1234567)))
    assert to_markdown(table).splitlines()[4:] == [
        "| 甘い, 緑茶 | 0.1 |",
        "| b | – |",
        "| c | 1,234,567 |",
    ]
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows == [["名前", "value"], ["甘い,\n緑茶", "0.1"], ["b", ""], ["c", "1234567"]]
    assert [number(x) for x in (1 / 3, 2.0, 0.0, 1e-6, 12345.6)] == [
        "0.3333",
        "2",
        "0",
        "1.00e-06",
        "12,346",
    ]


def test_exports(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    run_toy(tmp_path / "r", world=toy.model(fails=lambda where: where.instance == "i2"))
    with RunDirectory.look(tmp_path / "r") as directory:
        lines = [json.loads(line) for line in export_jsonl(directory, events=True)]
        rows = list(csv.DictReader(io.StringIO(export_csv(directory))))
    by_instance = {line["instance"]: line for line in lines}
    assert by_instance["i0"]["result"]["words"] and by_instance["i2"]["failure"]
    assert [e["kind"] for e in by_instance["i0"]["events"]].count("chat") == 6
    assert by_instance["i0"]["events"][0]["request"]["messages"][0]["content"] == toy.RULES
    cells = {row["instance"]: row for row in rows}
    assert cells["i0"]["result.instance"] == "i0" and cells["i0"]["tokens"] == "90"
    assert json.loads(cells["i0"]["result.words"]) == by_instance["i0"]["result"]["words"]
    assert cells["i2"]["result.words"] == "" and "HTTP 500" in cells["i2"]["failure"]


def _scored(toy: Any, values: list[float], **options: Any) -> Any:
    """A toy task whose pass@1 is given."""
    from naisei.runs.statistics import mean_metric

    class Scored(toy.Toy):  # type: ignore[misc,name-defined]
        def summarise(self, rows: Any) -> Summary:
            units = [r.where.instance for r in rows if r.scored]
            kept = [values[int(u[1:])] for u in units]
            return Summary((mean_metric("pass@1", kept),), extra={"units": units})

    return Scored(len(values), **options)


def test_runs_are_compared_on_what_both_scored(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    a = [0, 0, 0, 0, 0, 1, 1, 0]
    b = [1, 1, 1, 1, 1, 0, 1, 1]
    run_toy(tmp_path / "a", _scored(toy, a))
    # i7 is not scored in the second run: 5 to 1 of the rest speak for it.
    fails = toy.model(fails=lambda where: where.instance == "i7")
    run_toy(tmp_path / "b", _scored(toy, b, data_hash="data-2"), fails)
    comparison = compare([tmp_path / "a", tmp_path / "b"])
    (line,) = comparison.lines
    assert line.difference.n == 7
    assert line.difference.value == pytest.approx(4 / 7, abs=1e-12)
    assert line.difference.p == pytest.approx(14 / 64, abs=1e-12) == line.holm
    assert "ran on other data" in comparison.warnings[0]
    third = compare([tmp_path / "a", tmp_path / "b", tmp_path / "a"])
    assert len(third.lines) == 3 and third.lines[0].holm == pytest.approx(3 * 14 / 64)


def test_what_cannot_be_compared(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    run_toy(tmp_path / "a")
    RunDirectory.of(toy.Toy(5), tmp_path / "b").close()
    with pytest.raises(InputError, match="two runs"):
        compare([tmp_path / "a"])
    with pytest.raises(InputError, match="no summary yet"):
        compare([tmp_path / "a", tmp_path / "b"])
    run_toy(tmp_path / "c", toy.Toy(n=1, flavour="other"), toy.model(fails=lambda where: True))
    with pytest.raises(InputError, match="share no metric"):
        compare([tmp_path / "a", tmp_path / "c"])


def test_the_two_pages_share_their_parts(tmp_path: Path, report: str) -> None:
    table = Table("t <b>", ("a", "b"), (("x", 0.5),), note="n")
    write_study(tmp_path, "対照 <1>", [table], runs={"r": "r/report.html"}, notes=["注意"])
    study = (tmp_path / "study.html").read_text(encoding="utf-8")
    heads = [page[: page.index("</head>")] for page in (report, study)]
    assert heads[0].replace("<title>r ", "<title>対照 &lt;1&gt; ") == heads[1]
    assert "<h2>t &lt;b&gt;</h2>" in study and "<li>注意</li>" in study
    sources = Path(str(files("naisei.runs"))).joinpath("templates").glob("*.html")
    lines = Counter(line for path in sources for line in set(path.read_text("utf-8").split("\n")))
    assert [line for line, n in lines.items() if n > 1 and len(line) > 40] == []


def test_the_page_speaks_the_language_of_who_asks(tmp_path: Path, run_toy: Run) -> None:
    run_toy(tmp_path / "r")
    with RunDirectory.look(tmp_path / "r") as run:
        with speaking("ja"):
            japanese = html_report(run)
        with speaking("en"):
            english = html_report(run)
    assert '<html lang="ja">' in japanese and "<h2>指標</h2>" in japanese
    assert "先に読むこと" in japanese and "件のうち採点済み" in japanese
    assert '<html lang="en">' in english and "<h2>Metrics</h2>" in english


def test_the_report_as_csv_holds_every_table(tmp_path: Path, run_toy: Run) -> None:
    run_toy(tmp_path / "r")
    with RunDirectory.look(tmp_path / "r") as run:
        parts = csv_report(run).split("\r\n# ")
    tables = {p.partition("\r\n")[0].removeprefix("# "): p.partition("\r\n")[2] for p in parts}
    assert {"Metrics", "Tokens by role"} <= set(tables)
    head, *rows = csv.reader(io.StringIO(tables["Metrics"].strip()))
    assert head[:2] == ["metric", "value"] and rows
    assert all(len(row) == len(head) for row in rows)
