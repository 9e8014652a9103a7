"""What stderr shows while a run is going."""

from __future__ import annotations

import io
import math
import sys

import pytest

from naisei.runs.progress import LineProgress, RichProgress, Standing, progress


def test_eta_is_the_pace_of_this_call() -> None:
    # 10 were done before; 20 more ended in 60 s, 5 of them unscored; 70 are left.
    standing = Standing(total=100, done=25, resumed=10, failures=5, tokens=1234, seconds=60)
    assert standing.eta == pytest.approx(60 / 20 * 70)
    assert str(standing) == "25/100 · failures 5 · ETA 03:30 · tokens 1,234 · $0.0000"
    assert math.isnan(Standing(total=5).eta)
    assert "ETA --:--" in str(Standing(total=5)) and "$?" in str(Standing(5, usd=None))
    assert "ETA 2:00:00" in str(Standing(total=3, done=1, seconds=3600))


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LineProgress(every=3600)
    lines.start(Standing(total=2))
    lines.update(Standing(total=2, done=1))
    lines.stop(Standing(total=2, done=2))
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines() == [str(Standing(total=2, done=2))]
    often = LineProgress(every=0)
    often.start(Standing(total=2))
    often.update(Standing(total=2, done=1))
    assert "1/2" in capsys.readouterr().err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = progress()
    assert isinstance(bar, RichProgress)
    bar.start(Standing(total=2))
    bar.update(Standing(total=2, done=1))
    bar.stop(Standing(total=2, done=2))
    assert "2/2" in terminal.getvalue()


def test_quiet_is_quiet_and_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress(quiet=True) is None
    assert isinstance(progress(), LineProgress)
