"""The log gives back what was put in, keeps long strings once, and is quick."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naisei.core import Event, InputError, Usage, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_usage = st.builds(
    Usage, role=_text, model=_text, calls=st.integers(0, 3), usd=st.none() | st.floats(0, 9)
)
_event = st.builds(
    Event,
    where=st.builds(
        Where,
        instance=st.sampled_from(["a", "b", "物#語"]),
        trial=st.integers(0, 2),
        path=st.lists(st.integers(0, 99), max_size=4).map(tuple),
    ),
    kind=st.sampled_from(["chat", "act"]),
    digest=st.just("0" * 16),
    request=_json,
    result=_json,
    usage=st.none() | _usage,
    seconds=st.floats(0, 100),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(_event, max_size=6, unique_by=lambda event: event.where))
def test_events_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.sqlite"
    log = RunLog(path)
    for event in events:
        log.append(event)
    log.close()
    log = RunLog(path, read_only=True)
    for episode in {e.where.episode for e in events}:
        assert log.read(episode) == [e for e in events if e.where.episode == episode]
    log.close()


def test_failures_outcomes_and_what_they_cost(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.sqlite")
    where = Where("a", 0, (0,))
    failed = Event(
        where, "chat", "d", {}, None, ("InstrumentFailure", "bad \ud83d"), Usage("agent")
    )
    log.append(failed)
    assert log.read("a#0") == [failed]
    lost = Usage("agent", "m", 0, 3, 7, 0, 0.5)
    log.finish(EpisodeRow(Where("a"), None, "HTTP 500"), [lost])
    log.finish(EpisodeRow(Where("b"), {"x": 1}))
    rows = log.rows()
    assert rows["a#0"].failure == "HTTP 500"
    assert rows["a#0"].usage == (Usage("agent"), lost.wasted())
    assert rows["b#0"].result == {"x": 1}
    assert log.counts() == (1, 1, 1)
    assert log.ledger().roles["agent"].attempts == 3
    log.finish(EpisodeRow(Where("a"), {"x": 2}))
    assert log.rows()["a#0"].scored and log.ledger().known_usd == 0.5
    log.close()


def test_long_strings_are_kept_once(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.sqlite")
    prompt = "あなたは家の助手です。" * 400
    for i in range(200):
        request = {"messages": [{"role": "system", "content": prompt}, {"content": str(i)}]}
        log.append(Event(Where("a", 0, (i,)), "chat", "d", request, "はい"))
    log.close()
    assert (tmp_path / "log.sqlite").stat().st_size < 20 * len(prompt.encode())
    assert RunLog(tmp_path / "log.sqlite").read("a#0")[7].request == {
        "messages": [{"role": "system", "content": prompt}, {"content": "7"}]
    }


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    path.write_text("これは記録ではありません" * 200, encoding="utf-8")
    with pytest.raises(InputError, match="run log"):
        RunLog(path)
    with pytest.raises(InputError, match="run log"):
        RunLog(tmp_path / "none.sqlite", read_only=True)


def test_a_failed_append_leaves_nothing_behind(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.sqlite")
    text = "長い文" * 200
    with pytest.raises(TypeError):
        log.append(Event(Where("a"), "chat", "d", [text, object()]))  # type: ignore[list-item]
    log.append(Event(Where("a"), "chat", "d", text))
    assert [e.request for e in log.read("a#0")] == [text]
    db = sqlite3.connect(tmp_path / "log.sqlite")
    assert db.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    db.close()
    log.close()


_LEAVING = """
import os, sys
from pathlib import Path
from naisei.core import Event, Where
from naisei.runs.log import RunLog
log = RunLog(Path(sys.argv[1]))
for n in range(20):
    log.append(Event(Where("a", 0, (n,)), "chat", "d", "x" * 500))
os._exit(1)  # as killed: the WAL stays
"""


@pytest.mark.parametrize("left", ["both", "wal"])
def test_looking_reads_the_wal_and_leaves_no_trace(tmp_path: Path, left: str) -> None:
    """Also where the folder cannot be written, as on a mounted backup."""
    folder = tmp_path / "run"
    folder.mkdir()
    path = folder / "log.sqlite"
    subprocess.run([sys.executable, "-c", _LEAVING, str(path)], check=False)
    assert (folder / "log.sqlite-wal").stat().st_size
    if left == "wal":  # as in a copy of the folder
        (folder / "log.sqlite-shm").unlink()
    before = {each.name: each.stat().st_size for each in folder.iterdir()}
    for mode in (0o555, 0o755):
        folder.chmod(mode)
        with closing(RunLog(path, read_only=True)) as log:
            assert log.counts()[2] == len(log.read("a#0")) == 20
        assert {each.name: each.stat().st_size for each in folder.iterdir()} == before


def test_looking_at_what_was_closed_leaves_no_trace(tmp_path: Path) -> None:
    with closing(RunLog(tmp_path / "log.sqlite")) as log:
        log.append(Event(Where("a"), "chat", "d", "x"))
    with closing(RunLog(tmp_path / "log.sqlite", read_only=True)) as log:
        assert log.counts()[2] == 1
        assert {each.name for each in tmp_path.iterdir()} == {"log.sqlite", "log.sqlite.commits"}
    # While it is written, it is looked at as it grows.
    with (
        closing(RunLog(tmp_path / "log.sqlite")) as log,
        closing(RunLog(tmp_path / "log.sqlite", read_only=True)) as look,
    ):
        log.append(Event(Where("b"), "chat", "d", "x"))
        assert look.counts()[2] == 2


def test_a_log_opened_by_a_relative_path_is_closed_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = RunLog(Path("log.sqlite"))
    log.put("note", 1)
    monkeypatch.chdir("/")
    log.close()
    assert not (tmp_path / "log.sqlite-wal").exists()
    with closing(RunLog(tmp_path / "log.sqlite", read_only=True)) as log:
        assert log.get("note") == 1
