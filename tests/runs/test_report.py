"""Reports, comparisons and exports."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from html_page import Page
from naisei.core import InputError, Where
from naisei.lang import speaking
from naisei.runs.compare import compare
from naisei.runs.directory import RunDirectory
from naisei.runs.export import Frame, export_jsonl, frame
from naisei.runs.report import csv_report, html_report, markdown_report, write_study
from naisei.runs.tables import number, short, to_csv, to_markdown
from naisei.runs.task import EpisodeRow, Summary, Table

Run = Callable[..., Any]


@pytest.fixture
def report(tmp_path: Path, run_toy: Run, toy: Any) -> str:
    world = toy.model(fails=lambda where: where.instance == "i2")
    run_toy(tmp_path / "r", world=world)
    return (tmp_path / "r/report.html").read_text(encoding="utf-8")


def test_the_page_shows_japanese_and_escapes_what_others_wrote(report: str) -> None:
    page = Page(report)
    shown = " ".join(page.shown)
    assert "利用者: ちょっと休憩しようかな" in shown and "<script>alert(1)</script>" in shown
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "i", "b", "link", "img", "iframe"}
    assert '"Noto Sans CJK JP"' in report and "prefers-color-scheme: dark" in report


def test_the_page_needs_nothing_else(report: str) -> None:
    assert not re.search(r"https?://|url\(|@import|\ssrc=", report)


def test_the_page_says_what_was_not_measured(report: str) -> None:
    shown = re.sub(r"\s+", " ", " ".join(Page(report).shown))
    assert "3 of 4" in shown and "Unscored episodes: 1 of 4" in shown
    assert "InstrumentFailure: HTTP 500" in shown
    assert "k = 3, but one trial <was> run" in shown
    # The unscored episode's transcript comes first.
    summaries = re.findall(r"<summary>(.*?)</summary>", report)
    assert summaries[0] == "i2#0" and len(summaries) == 4


def test_interval_bars_lie_on_their_scale(report: str) -> None:
    bars = [a for tag, a in Page(report).tags if tag == "rect" and a["class"] == "interval"]
    assert len(bars) == 1
    x, width = float(bars[0]["x"]), float(bars[0]["width"])
    assert x >= 0 and width >= 0 and x + width <= 100


def test_markdown(tmp_path: Path, run_toy: Run) -> None:
    run_toy(tmp_path / "r")
    with RunDirectory.look(tmp_path / "r") as directory:
        text = markdown_report(directory)
    assert "4 of 4" in text and "| pass@3 | – |" in text
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
    by_instance = {line["instance"]: line for line in lines}
    assert by_instance["i0"]["result"]["words"] and by_instance["i2"]["failure"]
    assert [e["kind"] for e in by_instance["i0"]["events"]].count("chat") == 6
    assert by_instance["i0"]["events"][0]["request"]["messages"][0]["content"] == toy.RULES


def test_long_form_of_a_study(tmp_path: Path, run_toy: Run, toy: Any, naisei: Naisei) -> None:
    study = tmp_path / "study"
    fails = toy.model(fails=lambda where: where.instance == "i2")
    run_toy(study / "plain", toy.Toy(n=3), fails)
    result = run_toy(study / "sweet", toy.Toy(n=3, flavour="sweet"))
    links = {"plain one": "plain/report.html", "sweet one": "sweet/report.html"}
    write_study(study, "toys", [], runs=links)
    table = frame(study)
    assert [row["configuration"] for row in table] == ["plain one"] * 3 + ["sweet one"] * 3
    rows = {(r["config.flavour"], r["instance"]): r for r in table}
    first, failed = rows["plain", "i0"], rows["plain", "i2"]
    assert len(str(first["words"]).split()) == 5 and first["episode_tokens"] == 90
    assert "HTTP 500" in str(failed["failure"]) and "words" not in failed
    assert len(result.frame()) == 3 and "config.flavour" not in result.frame().columns
    _, out, _ = naisei("runs", "export", study, "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 6
    _, out, _ = naisei("runs", "export", study / "plain", "--each", "words")
    assert {"configuration", "words"} <= {*json.loads(out.splitlines()[0])}
    assert "# toys" in naisei("runs", "show", study)[1]
    shown = json.loads(naisei("runs", "show", study, "--json")[1])["runs"]
    assert [*shown] == ["plain one", "sweet one"] and shown["sweet one"]["n"] == 3
    code, _, err = naisei("runs", "export", study, "--events")
    assert code == 2 and "--events" in err
    assert naisei("runs", "export", tmp_path)[0] == 2
    assert naisei("runs", "export", study, "--format", "parquet")[0] == 2


def test_rows_of_a_result(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    """One row an element, with what holds it; nested lists, counts, and nothing at all."""

    class Nested(toy.Toy):  # type: ignore[misc,name-defined]
        each, row_names = "days.tries", {"asked": "questions"}

    run_toy(tmp_path / "r", Nested(n=1))
    tries = [{"asked": [], "ok": False}, {"asked": [{"q": 1}], "ok": True, "also": [3, 5]}]
    days = [{"day": 1, "tries": tries}, {"day": 2, "tries": []}]
    with RunDirectory.of(Nested(n=1), tmp_path / "r") as directory:
        where = Where("i0")
        result: Any = {"instance": "i0", "state": {"x": 1}, "gold": 7, "days": days}
        directory.log.finish(EpisodeRow(where, result))
    rows = [*frame(tmp_path / "r")]
    assert [(r["gold"], r["day"], r.get("questions"), r.get("ok")) for r in rows[:2]] == [
        (7, 1, 0, False),
        (7, 1, 1, True),
    ]
    assert rows[1]["also"] == "3 5" and rows[2]["day"] == 2 and "state" not in rows[0]
    (whole,) = frame(tmp_path / "r", each="")
    assert whole["days"] == 2 and whole["state.x"] == 1


def test_notebook_displays(tmp_path: Path, run_toy: Run) -> None:
    result = run_toy(tmp_path / "r")
    assert "<table>" in result._repr_html_() and "<html" not in result._repr_html_()
    episode = result.episode("i1")
    assert str(episode).startswith("# i1") and episode.result is not None
    assert episode._repr_html_().startswith("<pre") and "&quot;" in episode._repr_html_()
    many = Frame(tuple({"n": n, "<b>": None} for n in range(30)))
    assert "10" in many._repr_html_() and "&lt;b&gt;" in many._repr_html_()


def test_standard_logging(
    tmp_path: Path, run_toy: Run, toy: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="naisei")
    run_toy(tmp_path / "r", world=toy.model(fails=lambda where: where.instance == "i2"))
    told = [(r.levelname, r.name, r.getMessage()) for r in caplog.records]
    assert [level for level, *_ in told] == ["INFO", "WARNING", "INFO"]
    assert "4 of 4" in told[0][2] and "i2#0 is unscored" in told[1][2] and "HTTP" in told[1][2]
    assert "3 scored, 1 unscored" in told[2][2] and told[2][1] == "naisei.runs"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(tmp_path: Path, library: Any) -> None:
    pytest.importorskip(library)
    table = Frame(({"n": 1, "x": 0.5}, {"n": 2, "x": None, "mixed": "a"}, {"n": 3, "mixed": 4}))
    data = table.to_dataframe(library)
    assert data.shape == (3, 3) and list(data["n"]) == [1, 2, 3]
    if library == "pandas" and importlib.util.find_spec("pyarrow"):
        table.to_parquet(tmp_path / "t.parquet")
        read = importlib.import_module("pandas").read_parquet(tmp_path / "t.parquet")
        assert list(read["mixed"])[1:] == ["a", "4"]


def _scored(
    toy: Any, values: list[float], definition: dict[str, Any] | None = None, **options: Any
) -> Any:
    """A toy task whose pass@1 is given."""
    from naisei.runs.statistics import mean_metric

    class Scored(toy.Toy):  # type: ignore[misc,name-defined]
        def summarise(self, rows: Any) -> Summary:
            units = [r.where.instance for r in rows if r.scored]
            kept = [values[int(u[1:])] for u in units]
            return Summary(
                (
                    mean_metric(
                        "pass@1",
                        kept,
                        clusters=None,
                        share=True,
                        paired=True,
                        definition=definition,
                    ),
                ),
                extra={"units": units},
            )

    return Scored(len(values), **options)


def test_runs_are_compared_on_what_both_scored(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    a = [0, 0, 0, 0, 0, 1, 1, 0]
    b = [1, 1, 1, 1, 1, 0, 1, 1]
    run_toy(tmp_path / "a", _scored(toy, a))
    # i7 is not scored in the second run: 5 to 1 of the rest speak for it.
    fails = toy.model(fails=lambda where: where.instance == "i7")
    run_toy(tmp_path / "b", _scored(toy, b), fails)
    comparison = compare([tmp_path / "a", tmp_path / "b"])
    (line,) = comparison.lines
    assert line.difference.n == 7
    assert line.difference.value == pytest.approx(4 / 7, abs=1e-12)
    assert line.difference.p == pytest.approx(14 / 64, abs=1e-12) == line.holm
    run_toy(tmp_path / "d", _scored(toy, b, flavour="other"))
    assert compare([tmp_path / "a", tmp_path / "d"]).settings == ('flavour: "plain" → "other"',)
    third = compare([tmp_path / "a", tmp_path / "b", tmp_path / "a"])
    assert len(third.lines) == 3 and third.lines[0].holm == pytest.approx(3 * 14 / 64)


def test_metrics_that_mean_different_things_are_not_compared(
    tmp_path: Path, run_toy: Run, toy: Any
) -> None:
    run_toy(tmp_path / "a", _scored(toy, [0, 1]))
    run_toy(tmp_path / "data", _scored(toy, [0, 1], data_hash="data-2"))
    run_toy(tmp_path / "alpha", _scored(toy, [0, 1], flavour="x", definition={"alpha": 0.5}))
    for other, told in (("data", "data-2"), ("alpha", "alpha None / 0.5 (pass@1)")):
        with pytest.raises(InputError) as refused:
            compare([tmp_path / "a", tmp_path / other])
        assert told in str(refused.value) and refused.value.remedy


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


def test_a_short_number_is_never_rounded_to_nothing() -> None:
    cells = [short(x) for x in (0.0, 3e-13, 0.0004, 0.05, 1.234, 12.34)]
    assert cells == ["0", "3.00e-13", "0.0004", "0.05", "1.23", "12.3"]
