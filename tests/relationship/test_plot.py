"""Agent files, ours and other people's, as series, CSV and pictures."""

import csv
import json
import math
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.relationship.plot import COLUMNS, draw, table
from naisei.relationship.series import aligned, read_series
from naisei.runs.tables import to_csv

A, B = "高橋 さおり", "田中 ケンタ"


def vector(power: Any, intimacy: Any = 0, task: Any = 0) -> dict[str, Any]:
    return {"Power": power, "Intimacy": intimacy, "TaskOriented": task}


def moment(turn: int, a: Any, b: Any, **more: Any) -> dict[str, Any]:
    """As the document's §5 has it."""
    by_speaker = {A: {"toward": B, "vector": a}, B: {"toward": A, "vector": b}}
    rr = {"a_to_b": a, "b_to_a": b, "by_speaker": by_speaker}
    return {"turn": turn, "rr": rr, "next_speaker": B, "injected": True, **more}


def written(folder: Path, data: Any, name: str = "agent_a.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return folder / name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(
        tmp_path / "talk",
        {
            "session_1_relationship_reflection_turns": [
                moment(t, vector(1, t - 2), vector(-2, t - 1, -1)) for t in range(4)
            ],
            "session_3_relationship_reflection_turns": [moment(0, vector(2), vector(-1))],
        },
    )


def test_a_file_of_somebody_else_with_a_session_missing(file: Path) -> None:
    series = read_series(file)
    assert series.names == (A, B)
    assert series.label == "talk"
    assert series.way("b_to_a") == f"{B} → {A}"
    assert [(p.session, p.turn, p.at) for p in series.points] == [
        (1, 0, 1),
        (1, 1, 2),
        (1, 2, 3),
        (1, 3, 4),
        (3, 0, 6),
    ]
    assert series.sessions == {1: (0, 4), 3: (5, 6)}
    assert [p.reads["a_to_b"].values["Intimacy"] for p in series.points] == [-2, -1, 0, 1, 0]
    assert [p.reads["b_to_a"].values["Power"] for p in series.points] == [-2, -2, -2, -2, -1]
    assert read_series(file.parent).points == series.points


def test_agent_b_tells_the_same(tmp_path: Path) -> None:
    turns = {"session_1_relationship_reflection_turns": [moment(0, vector(3), vector(-3))]}
    a = written(tmp_path, {"name": A, "partner": B, **turns})
    b = written(tmp_path, {"name": B, "partner": A, **turns}, "agent_b.json")
    assert read_series(a).names == read_series(b).names == (A, B)
    assert read_series(a).points == read_series(b).points
    alone = written(tmp_path, {"name": B, **turns}, "agent_b.json")
    assert read_series(alone).names == (A, B)


def test_gaps_stay_gaps_and_are_told(tmp_path: Path) -> None:
    rows = [
        moment(0, None, vector(1)),
        moment(1, vector("high"), vector(7)),
        moment(2, vector(True), {"Power": None}),
        {"turn": 3},
        moment(3, vector(0.5), {"Intimacy": 2}),
    ]
    series = read_series(written(tmp_path, {"session_1_relationship_reflection_turns": rows}))
    powers = [
        (p.reads["a_to_b"].values["Power"], p.reads["b_to_a"].values["Power"])
        for p in series.points
    ]
    assert [math.isnan(a) for a, _ in powers] == [True, True, True, False]
    assert [math.isnan(b) for _, b in powers] == [False, True, True, True]
    assert powers[-1][0] == 0.5
    told = "\n".join(series.notes)
    assert "'high'" in told
    assert "7, no number" in told
    assert "True, no number" in told
    assert "[3]: no rr" in told


def test_vectors_in_by_speaker_alone_are_read(tmp_path: Path) -> None:
    row = moment(0, vector(2), vector(-2))
    del row["rr"]["a_to_b"], row["rr"]["b_to_a"]
    series = read_series(written(tmp_path, {"session_1_relationship_reflection_turns": [row]}))
    assert series.points[0].reads["a_to_b"].values["Power"] == 2
    assert series.points[0].reads["b_to_a"].values["Power"] == -2


def test_repeats_are_bands(tmp_path: Path) -> None:
    row = moment(0, vector(1), vector(-1))
    row["rr"]["repeats"] = {"a_to_b": [vector(0), vector(3), None], "b_to_a": [vector(-1)] * 3}
    series = read_series(written(tmp_path, {"session_1_relationship_reflection_turns": [row]}))
    read = series.points[0].reads["a_to_b"]
    assert (read.values["Power"], read.lows["Power"], read.highs["Power"]) == (1, 0, 3)
    assert read.repeats == 2
    assert series.points[0].reads["b_to_a"].lows["Power"] == -1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no reading"),
        ([], "no object"),
        ({"session_1_relationship_reflection_turns": []}, "no reading"),
        ({"session_1_relationship_reflection_turns": [moment(0, None, None)]}, "no reading"),
    ],
)
def test_files_without_a_reading_are_refused(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_series(written(tmp_path, data))


def test_missing_and_broken_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_series(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="no JSON"):
        read_series(tmp_path / "broken.json")


def test_compared_sessions_begin_together(file: Path, tmp_path: Path) -> None:
    other = written(
        tmp_path / "other",
        {
            f"session_{n}_relationship_reflection_turns": [moment(0, vector(0), vector(0))]
            for n in (1, 2, 3)
        },
    )
    one, two = aligned([read_series(file), read_series(other)])
    assert one.sessions == two.sessions == {1: (0, 4), 2: (5, 6), 3: (7, 8)}
    assert [p.at for p in one.points if p.session == 3] == [8]
    assert [p.at for p in two.points] == [1, 6, 8]


def test_the_table_holds_every_number(file: Path) -> None:
    rows = list(csv.DictReader(to_csv(table([read_series(file)])).splitlines()))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 5 * 2 * 3
    assert rows[3] == {
        "label": "talk", "session": "1", "turn": "0", "at": "after_turn", "direction": "b_to_a",
        "src": B, "dst": A, "dimension": "Power", "value": "-2.0", "low": "-2.0", "high": "-2.0",
        "repeats": "1", "carried": "0", "injected": "1",
    }  # fmt: skip


def test_pictures_need_no_font_of_the_machine(file: Path, tmp_path: Path) -> None:
    """Japanese is drawn from the font that comes along, as outlines in SVG; settings are left
    as they were."""
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    pictures = [tmp_path / "out" / f"x{end}" for end in (".png", ".svg", ".pdf")]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")  # one that the font lacks
        draw([read_series(file)], pictures, title="関係値の推移")
    assert dict(mpl.rcParams) == before
    assert pictures[0].read_bytes().startswith(b"\x89PNG")
    assert pictures[2].read_bytes().startswith(b"%PDF")
    svg = pictures[1].read_text(encoding="utf-8")
    assert "IPAexGothic" in svg
    assert "<text" not in svg
    draw([read_series(file)], [tmp_path / "again.svg"], title="関係値の推移")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == svg


def test_the_command_compares_files_under_labels(
    file: Path, tmp_path: Path, naisei: Naisei
) -> None:
    out = tmp_path / "cmp.png"
    asked = ["plot", file, file, "--labels", "注入あり", "注入なし", "-o", out]
    shown = naisei("relationship", *asked, "--csv")
    assert shown.code == 0, shown.err
    assert shown.out.split() == [str(out), str(out.with_suffix(".csv"))]
    labels = re.findall("^注入..", out.with_suffix(".csv").read_text(encoding="utf-8"), re.M)
    assert set(labels) == {"注入あり", "注入なし"}


def test_without_matplotlib_there_is_one_message_and_csv_still_works(
    file: Path, tmp_path: Path, naisei: Naisei, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib_fontja"):
        monkeypatch.setitem(sys.modules, name, None)
    plain = naisei("relationship", "plot", file)
    assert plain.code == 2
    assert "naisei[plots]" in plain.err
    assert "Traceback" not in plain.err
    table_only = naisei("relationship", "plot", file, "--csv")
    assert table_only.code == 0, table_only.err
    assert (tmp_path / "rr_plot.csv").exists()
    assert not (tmp_path / "rr_plot.png").exists()


def test_labels_that_do_not_fit_are_refused(file: Path, naisei: Naisei) -> None:
    shown = naisei("relationship", "plot", file, "--labels", "x", "y")
    assert shown.code == 2 and "1" in shown.err and "y" in shown.err
