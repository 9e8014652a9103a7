"""Where textworld is not installed: one message, and the demonstration goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from textgame.conftest import story

_BLOCKED = "import sys; sys.modules['textworld'] = None; from naisei.cli.main import main; {}"
_MAIN = "sys.exit(main(sys.argv[1:]))"


def blocked(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _BLOCKED.format(_MAIN), *args],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ.copy(),
    )


@pytest.mark.parametrize(
    "args",
    [
        ["run", "--games", "g.z8", "--agent", "random"],
        ["make", "cleanup", "--out", "made"],
        pytest.param(["make", "cooking", "--out", "made", "--n", "1"], marks=pytest.mark.slow),
        ["play", "g.z8"],
    ],
)
def test_one_message_and_exit_2(english: Path, args: list[str]) -> None:
    story(english / "g.z8")
    done = blocked("textgame", *args)
    assert done.returncode == 2, done
    assert "textworld" in done.stderr and "naisei[textgame]" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in english.iterdir()) == ["g.json", "g.z8"], "nothing left behind"


def test_the_demonstration_says_so_and_ends_well(english: Path) -> None:
    done = blocked("textgame", "demo")
    assert done.returncode == 0, done.stderr
    assert "naisei[textgame]" in done.stdout
