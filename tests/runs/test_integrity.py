"""A damaged log is told, never silently different; what is sound of it can be kept."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from benchmarks.attack.flips import FILES, exported, flip, make_run
from benchmarks.attack.kills import erasing, killed_while_erasing

from naisei.core import Event, InputError, Where
from naisei.runs.log import RunLog
from naisei.runs.repair import checked, repaired


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
    files = [f for f in FILES if (run / f).exists()]
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
        assert _content(at) == before
    assert told > 15


class _Killed:
    """A log that a process writes, and what a kill would leave after each event: the WAL's size
    and the number of writes."""

    def __init__(self, folder: Path) -> None:
        self.log = RunLog(folder / "log.sqlite")
        self.files = [folder / f"log.sqlite{end}" for end in ("", "-wal", ".commits")]
        self.left = [self._beside()]
        for n in range(3):
            self.log.append(Event(Where("a", 0, (n,)), "act", "d", {}, f"{n}" * 900))
            self.left.append(self._beside())
        self.database, self.wal, _ = (file.read_bytes() for file in self.files)

    def _beside(self) -> tuple[int, bytes]:
        return self.files[1].stat().st_size, self.files[2].read_bytes()

    def events(self, at: Path, wal: bytes, commits: bytes) -> int | None:
        """How many a copy with this WAL holds; `None` if damage is told."""
        for end, data in (("", self.database), ("-wal", wal), (".commits", commits)):
            (at / f"log.sqlite{end}").write_bytes(data)
        try:
            with closing(RunLog(at / "log.sqlite", read_only=True)) as log:
                return log.counts()[2]
        except InputError as error:
            assert error.remedy
            return None


@pytest.fixture
def written(tmp_path: Path) -> Iterator[_Killed]:
    (tmp_path / "written").mkdir()
    killed = _Killed(tmp_path / "written")
    yield killed
    killed.log.close()


def test_a_wal_cut_by_a_kill_is_sound_and_one_cut_afterwards_is_told(
    tmp_path: Path, written: _Killed
) -> None:
    sizes = [size for size, _ in written.left]
    for n, (size, commits) in enumerate(written.left):
        following = sizes[n + 1] if n + 1 < len(sizes) else size + 1
        # From here to the next event, the kill may come at any byte; and before the event counts.
        for cut in {*range(size, following, 1009), size + 24, following - 1}:
            assert written.events(tmp_path, written.wal[:cut], commits) == n, cut
        assert written.events(tmp_path, written.wal[:following], commits) in (n, n + 1)
        for cut in {*range(0, size, 1511), size - 1}:
            assert written.events(tmp_path, written.wal[:cut], commits) is None, cut


def test_any_bit_of_a_wal_is_told_or_changes_nothing(tmp_path: Path, written: _Killed) -> None:
    (_, commits), all_, told = written.left[-1], len(written.left) - 1, 0
    frames = range(32, len(written.wal), 24 + 4096)
    heads = [byte for at in (0, *frames) for byte in range(at, at + 24, 3)]
    bits = [8 * byte + byte % 8 for byte in {*heads, *range(0, len(written.wal), 401)}]
    for bit in bits:
        wal = bytearray(written.wal)
        wal[bit // 8] ^= 1 << bit % 8
        events = written.events(tmp_path, bytes(wal), commits)
        assert events in (None, all_), bit
        told += events is None
    assert told > len(bits) // 2


def test_a_process_that_counts_late_makes_no_damage(tmp_path: Path) -> None:
    path, counted = tmp_path / "log.sqlite", []
    with closing(RunLog(path)) as log, closing(RunLog(path)) as other:
        rows: Any = other._rows
        rows._count, count = (lambda: counted.append(rows._version)), rows._count
        log.put("the ninth write", "is the other's, the tenth is not")
        while len(log.select("SELECT 1 FROM events")) < 12:
            other.append(Event(Where("b", 0, (len(counted),)), "act", "d", {}, "x"))
            log.append(Event(Where("a", 0, (len(counted),)), "act", "d", {}, "x"))
            count()  # after the other process did
            with closing(RunLog(path, read_only=True)) as looking:
                assert looking.verified().damages == []


def test_a_log_without_its_wal_is_told_and_a_repair_keeps_what_there_is(
    tmp_path: Path, killed: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(killed, run)
    (run / "log.sqlite-wal").unlink()
    with pytest.raises(InputError, match="naisei runs repair"):
        RunLog(run / "log.sqlite")
    done = repaired(run)
    assert done.damages and done.events and done.again == []
    for n in (5, 6):
        assert checked(run).damages == []
        with closing(RunLog(run / "log.sqlite")) as log:
            log.append(Event(Where("物語1", 0, (n,)), "act", "d", {}, "again"))


def _changed(run: Path, tmp_path: Path, *statements: str) -> Path:
    at = tmp_path / "run"
    shutil.copytree(run, at)
    with closing(sqlite3.connect(at / "log.sqlite")) as db, db:
        for statement in statements:
            db.execute(statement)
    return at


_TEXT = "UPDATE texts SET text = CAST(CAST(text AS TEXT) || '!' AS BLOB)"


def test_damage_names_episode_and_step(tmp_path: Path, ended: Path) -> None:
    run = _changed(
        ended,
        tmp_path,
        "UPDATE events SET result = '\"x\"' WHERE episode = '物語1#0' AND path = '2'",
        "DELETE FROM events WHERE episode = '物語2#0' AND path = '4'",
        f"{_TEXT} WHERE CAST(text AS TEXT) LIKE '0-0%'",
    )
    found = {(d.episode, d.step) for d in checked(run).damages}
    assert found >= {("物語1#0", "2"), ("物語0#0", "0"), ("物語2#0", "")}
    for look in (exported, lambda at: RunLog(at / "log.sqlite")):
        with pytest.raises(InputError, match="物語0#0 step 0"):
            look(run)


def test_a_repair_cuts_off_the_episodes_that_are_not_whole(tmp_path: Path, ended: Path) -> None:
    run = _changed(
        ended,
        tmp_path,
        "DELETE FROM events WHERE episode = '物語1#0' AND path = '2'",
        "UPDATE exchanges SET sent = '[]' WHERE episode = '物語2#0' AND path = '1'",
    )
    done = repaired(run)
    assert done.again == ["物語1#0", "物語2#0"] and (done.events, done.episodes) == (10, 2)
    assert "物語1#0" in done.text() and all(file.exists() for file in done.saved)
    with closing(RunLog(run / "log.sqlite")) as log:
        assert log.known_episodes() == ["物語0#0", "物語3#0"]
        log.append(Event(Where("物語1", 0, (0,)), "act", "d", {}, "again"))
    assert checked(run).damages == []
    assert repaired(run).saved == []


def test_a_repair_of_a_file_with_pages_that_cannot_be_read(tmp_path: Path) -> None:
    run = tmp_path / "run"
    make_run(run, 30, 5)
    with (run / "log.sqlite").open("r+b") as file:
        file.seek((run / "log.sqlite").stat().st_size // 2 // 4096 * 4096)
        file.write(bytes(4096))
    with pytest.raises(InputError):
        exported(run)
    done = repaired(run)
    assert done.again and done.events and checked(run).damages == []
    with closing(RunLog(run / "log.sqlite")) as log:
        assert all(len(log.read(name)) == 5 for name in log.known_episodes())


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
    assert {each.name for each in tmp_path.iterdir()} == {"log.sqlite", "log.sqlite.commits"}


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
