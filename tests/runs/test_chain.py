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
from naisei.runs.head import Listed, entries
from naisei.runs.log import RunLog
from naisei.runs.repair import checked, repaired
from old_logs import unchained


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


def test_damage_names_episode_and_step_and_what_is_sound_around(
    tmp_path: Path, ended: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(sqlite3.connect(run / "log.sqlite")) as db:
        db.execute("UPDATE events SET result = '\"x\"' WHERE episode = '物語1#0' AND path = '2'")
        db.execute("DELETE FROM events WHERE episode = '物語2#0' AND path = '4'")
        db.execute("UPDATE texts SET text = text || '!' WHERE text LIKE '0-0%'")
        db.commit()
    found = {(d.episode, d.step): d for d in checked(run).damages}
    assert (found["物語1#0", "2"].before, found["物語1#0", "2"].after) == (2, 2)
    assert (found["物語0#0", "0"].before, found["物語0#0", "0"].after) == (0, 4)
    assert ("物語2#0", "4") in found
    for look in (exported, lambda at: RunLog(at / "log.sqlite")):
        with pytest.raises(InputError, match="物語0#0 step 0"):
            look(run)


def test_what_the_wal_lost_is_found_again(tmp_path: Path, killed: Path) -> None:
    """SQLite ignores a WAL from its first damaged frame on."""
    run = tmp_path / "run"
    shutil.copytree(killed, run)
    expected = exported(run)
    wal = run / "log.sqlite-wal"
    flip(wal, wal.stat().st_size * 4)
    with pytest.raises(InputError, match="is gone"):
        exported(run)
    done = repaired(run)
    assert done.events >= 19 and len(done.saved) >= 3
    assert done.lost or exported(run) == expected
    assert checked(run).damages == [] and (run / done.saved[0].name).exists()


def test_a_lost_row_is_cut_off_with_what_follows_and_priced(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(sqlite3.connect(run / "log.sqlite")) as db:
        db.execute("DELETE FROM events WHERE episode = '物語1#0' AND path = '2'")
        db.commit()
    done = repaired(run)
    assert done.lost == {"物語1#0": (3, "2")} and done.outcomes == ["物語1#0"]
    assert done.tokens == sum(100 + n + 5 for n in (2, 3, 4)) and done.usd == pytest.approx(0.003)
    with closing(RunLog(run / "log.sqlite")) as log:
        assert [e.where.step for e in log.read("物語1#0")] == ["0", "1"]
        assert log.result("物語1#0") is None and log.result("物語0#0") is not None
        log.append(Event(Where("物語1", 0, (2,)), "act", "d", {}, "again"))
    assert checked(run).damages == []
    assert repaired(run).saved == []


def test_a_log_without_its_head_is_read_with_a_note_but_not_gone_on_with(
    tmp_path: Path, ended: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    (run / "log.sqlite.head").unlink()
    with RunDirectory.look(run) as found:
        assert any("log.sqlite.head is missing" in note for note in found.notes)
    with pytest.raises(InputError, match=r"log.sqlite.head is missing"):
        RunLog(run / "log.sqlite")
    repaired(run)
    RunLog(run / "log.sqlite").close()


def test_a_log_of_before_opens_and_is_chained_when_it_goes_on(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    unchained(run / "log.sqlite")
    with RunDirectory.look(run) as found:
        assert any("not chained" in note for note in found.notes)
        assert len(found.log.read("物語0#0")) == 5
    digest = found.frozen.digest
    with closing(RunLog(run / "log.sqlite", origin=digest)) as log:
        assert log.notes == []
        log.append(Event(Where("new", 0, (0,)), "act", "d", {}, "x" * 500))
    assert checked(run).damages == [] and checked(run).chained
    assert len(exported(run)) > 1000


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
    db: Any = log._db
    db.kind, failed = _error(code), 0
    for n in range(1, 40):
        used = Usage("agent", "m", 1, 1, 5, 5, sent=({"request": f"送った文 {n}" * 40},))
        request = [f"長い文 {n}" * 60, "いつも同じ長い文" * 40]
        event = Event(Where("a", 0, (n,)), "chat", "d", request, "はい", None, used)
        db.left = n % 13 + 1
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


def test_what_is_erased_is_gone_from_the_head_too_and_the_rest_is_sound(
    tmp_path: Path, ended: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    with closing(RunLog(run / "log.sqlite")) as log:
        log.erase(instances=["物語1"])
        log.append(Event(Where("物語2", 1, (0,)), "act", "d", {}, "x" * 500))
    assert "物語1#0".encode() not in (run / "log.sqlite.head").read_bytes()
    found = checked(run)
    assert found.damages == [] and found.events == 16


def test_another_process_goes_on_with_a_log_that_was_erased_from(tmp_path: Path) -> None:
    """It remembers a chain, an open head and the numbers of texts that are there no more."""
    path, text = tmp_path / "log.sqlite", "長い本文" * 200

    def event(name: str, n: int) -> Event:
        return Event(Where(name, 0, (n,)), "act", "d", {"text": text}, "はい")

    with closing(RunLog(path)) as other, closing(RunLog(path)) as log:
        for name in ("a", "b"):
            other.append(event(name, 0))
        log.erase(instances=["a", "b"])
        other.append(event("b", 0))
        assert other.read("b#0") == [event("b", 0)]
        # Erased between its COMMIT and its line in the head.
        add = other._head.add

        def late(lines: bytes) -> None:
            log.erase(instances=["c"])
            add(lines)

        other._head.add = late  # type: ignore[method-assign]
        other.append(event("b", 1))
        other._head.add = add  # type: ignore[method-assign]
        other.append(event("b", 2))
        assert log.read("b#0") == other.read("b#0") == [event("b", n) for n in range(3)]
        with closing(RunLog(path, read_only=True)) as looking:
            assert looking.verified().events == 3
    lines = entries((tmp_path / "log.sqlite.head").read_bytes().splitlines())[0]
    assert [each.key[2] for each in lines if each.key[0] == "event"] == ["0", "1", "2"]
    assert {each.name for each in tmp_path.iterdir()} == {"log.sqlite", "log.sqlite.head"}


def test_killed_while_it_erases_a_log_holds_all_or_nothing_of_it(tmp_path: Path) -> None:
    """All statements are tried by `python -m benchmarks.attack kills`."""
    path = tmp_path / "run" / "log.sqlite"
    path.parent.mkdir()
    all_ = erasing(path)
    # From before COMMIT to what follows the new head.
    for number in range(all_ - 14, all_ - 5):
        assert killed_while_erasing(path, number, done=bool(number % 2)) == "", number


def test_a_repair_tells_that_it_takes_another_configuration(tmp_path: Path, ended: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(ended, run)
    assert not repaired(run).other
    config = run / "config.json"
    config.write_text(config.read_text("utf-8").replace('"random"', '"rule"'), "utf-8")
    assert [str(d) for d in checked(run).damages] == [
        "config.json is not the one that this log began with"
    ]
    told = repaired(run)
    assert told.other and "taken as it is" in told.text()
    assert checked(run).damages == []


def test_a_list_whose_lines_have_no_end_is_read_in_bounded_parts() -> None:
    """Else each part of the file would be joined to all of the line before it."""
    said = b"a" * 10_000_000
    parts = list(Listed(b"0 0 0 1\n" + said + b"\n0 0 0 2\n"))
    assert parts[0] == b"0 0 0 1" and parts[-2:] == [b"0 0 0 2", b""]
    assert b"".join(parts[1:-2]) == said and max(map(len, parts)) < 2_000_000
