"""Where textworld is not installed: one message, and the demonstration goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commandline import Naisei
from textgame.conftest import story


@pytest.fixture(autouse=True)
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)


@pytest.mark.parametrize(
    "args",
    [
        ["run", "--games", "g.z8", "--agent", "random"],
        ["make", "cleanup", "--out", "made"],
        pytest.param(["make", "cooking", "--out", "made", "--n", "1"], marks=pytest.mark.slow),
        ["play", "g.z8"],
    ],
)
def test_one_message_and_exit_2(english: Path, naisei: Naisei, args: list[str]) -> None:
    story(english / "g.z8")
    done = naisei("textgame", *args)
    assert done.code == 2, done
    assert "textworld" in done.err and "naisei[textgame]" in done.err
    assert "Traceback" not in done.err
    assert sorted(p.name for p in english.iterdir()) == ["g.json", "g.z8"], "nothing left behind"


def test_the_demonstration_says_so_and_shows_the_rest(naisei: Naisei) -> None:
    done = naisei("demo", "textgame", "emphasis", "--run-dir", "demo")
    assert done.code == 2, done.err
    assert "naisei[textgame]" in done.err and "Traceback" not in done.err
    assert "Could not be shown: Text games" in done.out
    assert "demo/emphasis.html" in done.out and Path("demo/emphasis.html").exists()
