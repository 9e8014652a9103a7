"""A damaged log is told, never silently different; what is sound of it can be kept."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from benchmarks.attack.flips import exported, flip, make_run
from benchmarks.attack.kills import erasing, killed_while_erasing

from naisei.core import Event, InputError, LogBusy, Usage, Where
from naisei.runs.directory import RunDirectory
from naisei.runs.log import RunLog
from naisei.runs.repair import checked, repaired
from naisei.runs.wal import torn


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ended") / "run"
    make_run(path, 4, 5)
    return path


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "run"
    make_run(path, 4, 5, killed=True)
    return path


def _content(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


@pytest.mark.parametrize("kind", ["ended", "killed"])
def test_a_flipped_bit_is_told_or_changes_nothing(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(kind)
    expected, rng, told = exported(run), random.Random(kind), 0
    files = [f for f in ("log.sqlite", "log.sqlite-wal", "config.json") if (run / f).exists()]
    for n in range(60):
        at, file = tmp_path / str(n), rng.choice(files)
        shutil.copytree(run, at)
        flip(at / file, rng.randrange((at / file).stat().st_size * 8))
        before = _content(at)
        try:
            assert exported(at) == expected
        except InputError as error:
            told += 1
            assert str(at) in str(error) and error.remedy
            with pytest.raises(InputError):
                RunLog(at / "log.sqlite", origin=RunDirectory.look(at).frozen.digest)
        assert _content(at) == before
    assert told > 15


def test_damage_names_episode_and_step(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(sqlite3.connect(run / "log.sqlite")) as db:
        db.execute("UPDATE events SET result = '\"x\"' WHERE episode = '物語1#0' AND path = '2'")
        db.execute("DELETE FROM events WHERE episode = '物語2#0' AND path = '4'")
        changed = "CAST(CAST(text AS TEXT) || '!' AS BLOB)"
        db.execute(f"UPDATE texts SET text = {changed} WHERE CAST(text AS TEXT) LIKE '0-0%'")
        db.commit()
    found = {(d.episode, d.step) for d in checked(run).damages}
    assert found >= {("物語1#0", "2"), ("物語0#0", "0")}
    assert ("物語2#0", "") in found  # its outcome follows an event that is gone
    for look in (exported, lambda at: RunLog(at / "log.sqlite")):
        with pytest.raises(InputError, match="物語0#0 step 0"):
            look(run)


def test_a_torn_wal_is_told_and_what_comes_before_is_kept(tmp_path: Path, killed: Path) -> None:
    """SQLite ignores a WAL from its first damaged page on, without a word."""
    run = tmp_path / "run"
    shutil.copytree(killed, run)
    wal = run / "log.sqlite-wal"
    flip(wal, wal.stat().st_size * 4)
    with pytest.raises(InputError, match=r"of its [0-9]+ pages cannot be read"):
        exported(run)
    done = repaired(run)
    assert 0 < done.events < 20 and (run / done.saved[1].name).exists()  # type: ignore[union-attr]
    assert "log.sqlite-wal" in done.text()
    assert checked(run).damages == [] and exported(run)


def test_any_bit_of_a_wal_is_told_but_a_last_page_that_is_not_whole_is_not(
    tmp_path: Path, killed: Path
) -> None:
    data, wal = (killed / "log.sqlite-wal").read_bytes(), tmp_path / "wal"
    page = int.from_bytes(data[8:12]) + 24
    for end in (0, 20, 32, 40, 32 + page, 32 + 3 * page + 30, len(data)):
        wal.write_bytes(data[:end])
        assert torn(wal) == "", end
    rng, last = random.Random(8), (len(data) - page) * 8
    for bit in (*range(0, 256, 5), *range(last, last + 192, 7), *rng.sample(range(last), 40)):
        wal.write_bytes(data)
        flip(wal, bit)
        assert torn(wal), bit


def test_a_lost_row_is_cut_off_with_what_follows(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(sqlite3.connect(run / "log.sqlite")) as db:
        db.execute("DELETE FROM events WHERE episode = '物語1#0' AND path = '2'")
        db.commit()
    done = repaired(run)
    assert done.again == {"物語1#0": "3"} and "step 3" in done.text()
    with closing(RunLog(run / "log.sqlite")) as log:
        assert [e.where.step for e in log.read("物語1#0")] == ["0", "1"]
        assert log.result("物語1#0") is None and log.result("物語0#0") is not None
        log.append(Event(Where("物語1", 0, (2,)), "act", "d", {}, "again"))
    assert checked(run).damages == []
    assert repaired(run).saved == []


def test_a_file_that_changed_since_it_was_closed_is_told(tmp_path: Path, ended: Path) -> None:
    """Its last rows may be gone, which no digest of a row tells."""
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(sqlite3.connect(run / "log.sqlite")) as db:
        db.execute("DELETE FROM exchanges WHERE episode = '物語1#0' AND path = '4'")
        db.commit()
    for look in (exported, lambda at: RunLog(at / "log.sqlite")):
        with pytest.raises(InputError, match="closed"):
            look(run)
    assert repaired(run).events == 20
    RunLog(run / "log.sqlite").close()
    (run / "log.sqlite.digest").unlink()
    assert checked(run).damages == []


class _Failing(sqlite3.Connection):
    """Fails at the n-th statement from now, once; a COMMIT may fail after it was done, too."""

    left = -1
    kind: Callable[[], sqlite3.Error]

    def execute(self, *args: Any) -> sqlite3.Cursor:
        self.left -= 1
        if self.left == 0:
            raise self.kind()
        return super().execute(*args)


def _error(code: int) -> Callable[[], sqlite3.Error]:
    def make() -> sqlite3.Error:
        error = sqlite3.OperationalError("injected")
        error.sqlite_errorcode = code
        return error

    return make


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY])
def test_a_fault_at_any_statement_leaves_nothing_behind_and_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *a, **k: connect(*a, **({"factory": _Failing} | k))
    )
    path = tmp_path / "log.sqlite"
    log = RunLog(path)
    kept: list[Event] = []
    db: Any = log._rows._db
    db.kind, failed = _error(code), 0
    for n in range(1, 40):
        used = Usage("agent", "m", 1, 1, 5, 5, sent=({"request": f"送った文 {n}" * 40},))
        request = [f"長い文 {n}" * 60, "いつも同じ長い文" * 40]
        event = Event(Where("a", 0, (n,)), "chat", "d", request, "はい", None, used)
        db.left = n % 10 + 1
        try:
            log.append(event)
        except InputError as error:
            failed += 1
            assert error.place == str(path) and isinstance(error, LogBusy) == (
                code == sqlite3.SQLITE_BUSY
            )
            log.append(event)  # going on in the same process
        db.left = -1
        kept.append(event)
        assert log.read("a#0") == kept
    assert failed > 20
    log.close()
    with closing(RunLog(path, read_only=True)) as log:
        assert log.read("a#0") == kept and log.ledger().roles["agent"].calls == len(kept)


def test_what_is_erased_is_gone_from_all_files_and_the_rest_is_sound(
    tmp_path: Path, ended: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(RunLog(run / "log.sqlite")) as log:
        log.erase(instances=["物語1"])
        assert not any("1-0: 居間で".encode() in data for data in _content(run).values())
        log.append(Event(Where("物語2", 1, (0,)), "act", "d", {}, "x" * 500))
    found = checked(run)
    assert found.damages == [] and found.events == 16


def test_another_process_goes_on_with_a_log_that_was_erased_from(tmp_path: Path) -> None:
    """It remembers digests, and the numbers of texts that are there no more."""
    path, text = tmp_path / "log.sqlite", "長い本文" * 200

    def event(name: str, n: int) -> Event:
        return Event(Where(name, 0, (n,)), "act", "d", {"text": text}, "はい")

    with closing(RunLog(path)) as other, closing(RunLog(path)) as log:
        for name in ("a", "b"):
            other.append(event(name, 0))
        log.erase(instances=["a", "b"])
        other.append(event("b", 0))
        assert other.read("b#0") == [event("b", 0)]
        log.erase(instances=["c"])
        other.append(event("b", 1))
        other.append(event("b", 2))
        assert log.read("b#0") == other.read("b#0") == [event("b", n) for n in range(3)]
        with closing(RunLog(path, read_only=True)) as looking:
            assert looking.verified().events == 3
    assert {each.name for each in tmp_path.iterdir()} == {"log.sqlite", "log.sqlite.digest"}


def test_killed_while_it_erases_a_log_holds_all_or_nothing_of_it(tmp_path: Path) -> None:
    """All statements are tried by `python -m benchmarks.attack kills`."""
    path = tmp_path / "run" / "log.sqlite"
    path.parent.mkdir()
    all_ = erasing(path)
    # From before COMMIT on.
    for number in range(all_ - 14, all_):
        assert killed_while_erasing(path, number, done=bool(number % 2)) == "", number


def test_a_repair_tells_that_it_takes_another_configuration(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    config = run / "config.json"
    config.write_text(config.read_text("utf-8").replace('"random"', '"rule"'), "utf-8")
    (damage,) = checked(run).damages
    assert "config.json" in str(damage)
    assert "config.json" in repaired(run).text()
    assert checked(run).damages == []
