"""`naisei self-taught learn` and `learning-curve`: what they refuse, write and show."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from both_languages import said_in_both
from commandline import Naisei
from naisei.core import InputError
from naisei_textgame_selftaught.commands import LearnOptions, learn, learning_curve
from naisei_textgame_selftaught.curve import Point, read_points, write_points
from naisei_textgame_selftaught.knowledge import Knowledge, load
from textgame.conftest import story

POINTS = [
    Point(
        caution=caution, seed=seed, n=n, game=game,
        normalized_score=score, steps=10 + n, won=score == 1, lost=False,
    )
    for caution in (True, False)
    for seed in (0, 1)
    for n, score in ((0, 0.25), (5, 1.0))
    for game in ("a", "b")
]  # fmt: skip


def test_a_curve_is_written_read_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "curve.csv"
    write_points(file, POINTS)
    assert read_points([file]) == POINTS
    with file.open(encoding="utf-8") as lines:
        assert len(list(csv.DictReader(lines))) == len(POINTS)
    learning_curve([file])
    shown = capsys.readouterr().out
    assert "| on | 0 | 2 | 0.250 |" in shown
    assert "| off | 5 | 2 | 1.000 |" in shown


def test_the_picture_is_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    from naisei_textgame_selftaught.curve import draw

    one, two = tmp_path / "1.svg", tmp_path / "2.svg"
    draw(POINTS, one)
    draw(POINTS, two)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("text", ["caution,seed\nmaybe,x\n", "a,b\n1,2\n"])
def test_another_file_is_no_curve(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no learning curve"):
        read_points([tmp_path / "c.csv"])


def test_a_curve_needs_games_to_measure_it_on(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="both") as refused:
        learn(LearnOptions(games=tmp_path, out=tmp_path / "k.json", curve=tmp_path / "c.csv"))
    assert refused.value.place == "--valid"


def test_what_was_learned_otherwise_is_not_gone_on_from(tmp_path: Path) -> None:
    pytest.importorskip("textworld", reason="the games engine is not installed")
    (tmp_path / "games").mkdir()
    story(tmp_path / "games" / "g.z8")
    out = tmp_path / "k.json"
    out.write_text(Knowledge(seed=1).text(), encoding="utf-8")
    with pytest.raises(InputError, match="seed 1"):
        learn(LearnOptions(games=tmp_path / "games", out=out, seed=2, resume=True))


def test_a_missing_folder_is_one_message(naisei: Naisei) -> None:
    done = naisei("self-taught", "learn", "--games", "nowhere", "--out", "k.json")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "nowhere" in done.err


def test_what_is_said_is_said_in_both_languages(english: Path) -> None:
    games, out = Path(), Path("k.json")
    said_in_both(
        lambda: learn(LearnOptions(games=games, out=out, valid=games)),
        "a curve needs both games to measure on and a file to write",
        "give --valid DIR --curve FILE.csv",
    )
    said_in_both(
        lambda: load(Path("nothing.json")),
        "no such file",
        "naisei self-taught learn --games DIR --out FILE makes one",
    )
