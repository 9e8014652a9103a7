"""What every store of logs promises: a file, and a database. What a log is, whoever keeps it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from naisei.core import EpisodeBusy, Event, InputError, LogBusy, Usage, Where
from naisei.runs import show
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.log import RunLog
from naisei.runs.repair import checked, repaired
from naisei.runs.task import EpisodeRow

Open = Callable[..., RunLog]
USED = Usage("agent", "m", 1, 1, 10, 5, 0.5, sent=({"request": "長い依頼" * 60},))


def event(step: int, name: str = "a", **more: Any) -> Event:
    request = {"prompt": "長い文" * 100, "mark": "\0short", "long": "\0" + "z" * 300}
    return Event(Where(name, 0, (step,)), "chat", "d", request, {"n": step}, None, USED, 0, **more)


@pytest.fixture(params=["file", "database"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same log again and again."""
    with ExitStack() as stack:
        if request.param == "database":
            address = request.getfixturevalue("postgres").database()
            from naisei.runs.postgres import postgres_log

            def open_(**how: Any) -> RunLog:
                log = postgres_log(address, "log", place=tmp_path / "store.json", **how)
                stack.callback(log.close)
                return log
        else:

            def open_(**how: Any) -> RunLog:
                log = RunLog(tmp_path / "log.sqlite", **how)
                stack.callback(log.close)
                return log

        yield open_


def test_what_was_appended_is_read_in_order_by_whoever_opens_it(store: Open) -> None:
    log = store()
    for step in range(3):
        log.append(event(step))
    log.append(event(0, "b"))
    log.finish(EpisodeRow(Where("a"), {"won": True}), [USED])
    log.put("note", ["あ", 1.5])
    log.put("note", ["い", 2])
    for other in (store(), store(read_only=True)):
        assert other.read("a#0") == [event(0), event(1), event(2)]
        assert other.known_episodes() == ["a#0", "b#0"] and other.counts() == (1, 0, 4)
        assert other.get("note") == ["い", 2] and other.get("none") is None
        assert other.result("a#0") == {"won": True} and other.result("b#0") is None
        assert [len(sent) for _, _, sent in other.sent("a#0")] == [1, 1, 1, 1]
        spent = other.ledger().roles["agent"]
        assert (spent.calls, spent.tokens, spent.lost, spent.usd) == (5, 75, 15, 2.5)
        assert [[used.calls for used in row.usage] for row in other.rows().values()] == [[3, 1]]
        page = show.episode_page(other, show.EpisodeFilter(text="A", instances=frozenset({"a"})))
        assert [(line.state, line.tokens, line.usd) for line in page.lines] == [("scored", 60, 2.0)]
        found = other.verified()
        assert not found.damages and (found.events, found.episodes) == (4, 1)


def test_a_step_is_there_once_and_what_fails_leaves_nothing(store: Open) -> None:
    log, other = store(), store()
    log.append(event(0))
    with pytest.raises(EpisodeBusy, match="already"):
        other.append(event(0))
    other.append(event(1))
    log.append(event(2))
    assert [e.where.path for e in log.read("a#0")] == [(0,), (1,), (2,)]
    assert not store().verified().damages


def test_an_episode_has_one_writer(store: Open) -> None:
    log, other = store(), store()
    with log.writing("a#0"), other.writing("b#0"):
        log.append(event(0))
        with pytest.raises(EpisodeBusy, match="another call"), other.writing("a#0"):
            pass
    with other.writing("a#0"):
        other.append(event(1))


def test_what_is_erased_is_gone_and_the_rest_is_sound(store: Open) -> None:
    log = store()
    for name in ("a", "b"):
        log.append(event(0, name))
        log.put(f"talk:{name}", {"of": name})
    log.erase(instances=["a"], keys=["talk:a"])
    assert log.known_episodes() == ["b#0"] and log.get("talk:a") is None
    assert log.get("talk:b") == {"of": "b"} and not store().verified().damages


def test_another_configuration_is_refused(store: Open) -> None:
    store(origin="one").append(event(0))
    with pytest.raises(InputError, match=r"config\.json"):
        store(origin="other")


DAMAGES = {
    "changed": "UPDATE events SET result = '{\"n\":9}' WHERE path = '1'",
    "removed": "DELETE FROM events WHERE path = '2'",
    "a text": "DELETE FROM texts",
    "a note": "UPDATE meta SET value = '1' WHERE key = 'note'",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_somebody_changed_in_the_database_is_told(
    postgres: Any, tmp_path: Path, toy: Any, damage: str
) -> None:
    """`runs check` names it; the database's backup is restored, not the log repaired."""
    run = tmp_path / "run"
    with RunDirectory.of(toy.Toy(), run, store=postgres.database()) as directory:
        log = directory.log
        for step in range(3):
            log.append(event(step))
        log.append(event(0, "b"))
        log.put("note", 0)
        log.finish(EpisodeRow(Where("a"), {"won": True}))
        log._rows.execute(DAMAGES[damage])
    found = checked(run)
    assert found.damages
    with pytest.raises(InputError, match="damaged"):
        RunDirectory.look(run)
    with pytest.raises(InputError):
        repaired(run)


def test_a_run_in_the_database_equals_one_in_a_file(
    postgres: Any, tmp_path: Path, run_toy: Callable[..., Any], toy: Any
) -> None:
    import asyncio

    from naisei.runs.result import finish

    file = run_toy(tmp_path / "file")
    with RunDirectory.of(toy.Toy(), tmp_path / "kept", store=postgres.database()) as directory:
        outcome = asyncio.run(run_task(toy.Toy(), directory, toy.model()))
        kept = finish(toy.Toy(), directory, outcome)
    texts = [(r.run_dir / "results.jsonl").read_text() for r in (file, kept)]
    assert texts[0] == texts[1] and file.outcome.ledger == kept.outcome.ledger
    assert not (tmp_path / "kept/log.sqlite").exists()
    again = run_toy(tmp_path / "kept", world=toy.model())  # without naming the store
    assert again.outcome.ledger == kept.outcome.ledger
    stored = json.loads((tmp_path / "kept/store.json").read_text())
    assert "@" not in stored["store"] or ":@" not in stored["store"]


def test_two_do_not_work_on_one_run(postgres: Any, tmp_path: Path, toy: Any) -> None:
    """Not even from two machines, each with a copy of the directory."""
    import shutil

    with RunDirectory.of(toy.Toy(), tmp_path / "run", store=postgres.database()):
        shutil.copytree(tmp_path / "run", tmp_path / "copy")
        with pytest.raises(InputError, match="another process"):
            RunDirectory.of(toy.Toy(), tmp_path / "copy")
    RunDirectory.of(toy.Toy(), tmp_path / "copy").close()


def test_logs_that_share_a_connection_see_their_own_rows_alone(
    postgres: Any, tmp_path: Path
) -> None:
    """Whichever was asked last, in a transaction or not, and after one that was undone."""
    from naisei.runs.postgres import postgres_log

    address = postgres.database()
    one, two = (postgres_log(address, name, place=tmp_path) for name in ("one", "two"))
    for n in range(2):
        for log in (one, two):
            log.put("whose", f"{log._rows.name} {n}")
            log.append(event(n, log._rows.name))
            with pytest.raises(EpisodeBusy):
                log.append(event(n, log._rows.name))
        for log in (two, one):
            assert log.get("whose") == f"{log._rows.name} {n}"
            assert log.known_episodes() == [f"{log._rows.name}#0"]
    pids = {log.select("SELECT pg_backend_pid()")[0][0] for log in (one, two, one)}
    assert len(pids) == 1, "they shared no connection"


def test_a_writer_that_was_replaced_writes_nothing(postgres: Any, tmp_path: Path) -> None:
    """Whoever loses the lock with its connection, and is replaced meanwhile, is told so."""
    from naisei.runs.postgres import postgres_log

    address = postgres.database()
    log = postgres_log(address, "log", place=tmp_path)
    with log.writing("a#0"):
        log.append(event(0))
        log._rows.execute("UPDATE log_writers SET owner = 'another'")
        with pytest.raises(EpisodeBusy, match="taken over"):
            log.append(event(1))
    assert [e.where.path for e in log.read("a#0")] == [(0,)]


WRITER = """
import sys, os
from pathlib import Path
from naisei.runs.postgres import postgres_log
log = postgres_log(sys.argv[1], "log", place=Path("x"))
with log.writing("a#0"):
    print("mine", flush=True)
    sys.stdin.read()
"""


def test_the_lock_of_a_killed_process_is_free(postgres: Any, tmp_path: Path) -> None:
    from naisei.runs.postgres import postgres_log
    from waiting import until

    address = postgres.database()
    command = [sys.executable, "-c", WRITER, address]
    other = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert other.stdout is not None and other.stdout.readline() == "mine\n"
    log = postgres_log(address, "log", place=tmp_path)
    with pytest.raises(EpisodeBusy), log.writing("a#0"):
        pass
    other.kill()
    other.communicate()

    def free() -> bool:
        try:
            with log.writing("a#0"):
                return True
        except EpisodeBusy:
            return False

    until(free)


def test_what_cannot_be_reached_is_one_message(tmp_path: Path, toy: Any) -> None:
    pytest.importorskip("psycopg")
    from naisei.runs.postgres import postgres_log

    with pytest.raises(LogBusy, match="cannot be reached") as told:
        postgres_log("postgresql://me:secret@127.0.0.1:1/none", "log", place=tmp_path)
    assert "secret" not in str(told.value) and "same command" in told.value.remedy
    with pytest.raises(InputError, match="--store"):
        RunDirectory.of(toy.Toy(), tmp_path / "run", store="mysql://x")
    assert not (tmp_path / "run").exists()
