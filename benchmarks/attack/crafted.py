"""Run directories as somebody with bad intentions would send them: links, pipes, views, rows of
other types, broken JSON, escape codes. Every command on them ends soon, in one message or with
what is there; nothing outside changes, no control code is printed.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import FrameType

from benchmarks.attack.base import Attempt
from naisei.cli.main import main
from naisei.runs import integrity

_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
_ESCAPE = "char(27) || ']0;owned' || char(7) || char(155) || '31m'"
_DEEP = "[" * 100_000
#: What is done to the rows, by name. The digests are made anew afterwards, where that is possible:
#: whoever can write a log can do so.
ROWS: Mapping[str, str] = {
    "endless view events": f"DROP TABLE events; CREATE VIEW events AS {_ENDLESS} SELECT x AS seq,"
    " 'a#0' AS episode, 'a' AS instance, 0 AS trial, '0' AS path FROM n",
    "endless view episodes": f"DROP TABLE episodes; CREATE VIEW episodes AS {_ENDLESS}"
    " SELECT x AS episode, 'a' AS instance, 0 AS trial, 1 AS result, '' AS failure, 0 AS at FROM n",
    "endless view meta": f"DROP TABLE meta; CREATE VIEW meta AS {_ENDLESS}"
    " SELECT 'k' AS key, x AS value FROM n",
    "extra view": "CREATE VIEW more AS SELECT load_extension('/tmp/x.so')",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "generated column": "ALTER TABLE lost ADD COLUMN big AS (hex(zeroblob(100000000)))",
    "check": "DROP TABLE lost; CREATE TABLE lost(seq INTEGER PRIMARY KEY CHECK(randomblob(9)))",
    "default": "ALTER TABLE lost ADD COLUMN big DEFAULT (1 + 1)",
    "virtual table": "CREATE VIRTUAL TABLE more USING fts5(x)",
    "index on an expression": "CREATE INDEX i ON events(lower(result))",
    "extra table": "CREATE TABLE more(x)",
    "no events": "DROP TABLE events",
    "no column": "ALTER TABLE episodes DROP COLUMN result",
    "seconds is text": "UPDATE events SET seconds = 'long'",
    "seconds is infinite": "UPDATE events SET seconds = 9e999",
    "seconds is negative": "UPDATE events SET seconds = -5",
    "trial is text": "UPDATE events SET trial = 'x'",
    "trial is huge": "UPDATE events SET trial = 9223372036854775807",
    "episode is another": "UPDATE events SET episode = 'else#7' WHERE seq = 1",
    "step is text": "UPDATE events SET path = 'a.b' WHERE seq = 1",
    "step is dots": "UPDATE events SET path = '0..' WHERE seq = 1",
    "step is long": f"UPDATE events SET path = '{'0.' * 5000}0' WHERE seq = 1",
    "request is no JSON": "UPDATE events SET request = '['",
    "request is deep": f"UPDATE events SET request = '{_DEEP}{']' * 100_000}'",
    "request is null": "UPDATE events SET request = NULL",
    "chat of no messages": "UPDATE events SET kind = 'chat', request = '{\"role\": 1}'",
    "chat of numbers": "UPDATE events SET kind = 'chat', request = '[1, 2]'",
    "chat of odd messages": "UPDATE events SET kind = 'chat',"
    ' request = \'{"role": null, "messages": [1, {"role": 2}]}\'',
    "result is a blob": "UPDATE events SET result = x'00ff'",
    "result is no text": "UPDATE events SET result = CAST(x'22fffe22' AS TEXT)",
    "result of an episode is no JSON": "UPDATE episodes SET result = '{'",
    "result of an episode is a number": "UPDATE episodes SET result = '5'",
    "result of an episode is deep": f"UPDATE episodes SET result = '{_DEEP}'",
    "text that is not there": "UPDATE events SET result = '\"\\u0000999\"'",
    "text of no number": "UPDATE events SET result = '\"\\u0000x\"'",
    "failure is a number": "UPDATE events SET failure = '5'",
    "failure of an unknown class": 'UPDATE events SET failure = \'["Nothing", "x"]\'',
    "failure of three": "UPDATE events SET failure = '[1, 2, 3]'",
    "vectors of odd shape": 'UPDATE events SET result = \'{"shape": [1, "x"], "f4": 3}\'',
    "negative tokens": "UPDATE events SET role = 'a', model = 'm', calls = 1, attempts = 1,"
    " input_tokens = -5, output_tokens = 0, cached = 0, repaired = 0, lost_input = 0,"
    " lost_output = 0",
    "price is text": "UPDATE events SET role = 'a', usd = 'free'",
    "role is a blob": "UPDATE events SET role = x'00'",
    "escape codes in the kind": f"UPDATE events SET kind = {_ESCAPE}",
    "escape codes in the name": f"UPDATE events SET instance = {_ESCAPE} || instance,"
    f" episode = {_ESCAPE} || instance || '#' || trial;"
    f" UPDATE episodes SET instance = {_ESCAPE} || instance,"
    f" episode = {_ESCAPE} || instance || '#' || trial",
    "escape codes in the failure": f"UPDATE episodes SET result = NULL, failure = {_ESCAPE}",
    "summary is a number": "INSERT OR REPLACE INTO meta(key, value) VALUES ('summary', '5')",
    "summary is empty": "INSERT OR REPLACE INTO meta(key, value) VALUES ('summary', '{}')",
    "summary of odd metrics": "INSERT OR REPLACE INTO meta(key, value) VALUES ('summary',"
    ' \'{"summary": {"metrics": [{"per_unit": 3}], "tables": 5, "notes": {}, "extra": 1},'
    ' "scored": "x", "stopped": [], "seconds": "y", "transcripts": [1]}\')',
    "summary of odd values": "INSERT OR REPLACE INTO meta(key, value) VALUES ('summary',"
    ' \'{"summary": {"metrics": [{"name": "m", "value": "x", "low": null, "high": [], "n": "y",'
    ' "reason": 5, "per_unit": ["a"]}], "tables": [{"title": 1, "columns": [1, 2], "rows":'
    ' [[1], 5], "note": null}], "notes": [1, null], "extra": 1}, "scored": "x", "stopped": [],'
    ' "seconds": "y", "transcripts": []}\')',
    "number of episodes is text": "INSERT OR REPLACE INTO meta(key, value)"
    " VALUES ('episodes', '\"x\"')",
    "a note is no JSON": "INSERT OR REPLACE INTO meta(key, value) VALUES ('episodes', '{')",
}


def _fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _link(path: Path, to: Path | None = None) -> None:
    """A link to a file outside of the run, with the content that was there."""
    target = to or path.parents[1] / "outside" / path.name
    if to is None and path.exists():
        shutil.move(path, target)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _written(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


#: What is done to the files.
FILES: Mapping[str, Callable[[Path], None]] = {
    **{
        f"{name} is a link": (lambda run, name=name: _link(run / name))  # type: ignore[misc]
        for name in (
            "log.sqlite",
            "config.json",
            "lock",
            "lock.holder",
            "log.sqlite.writers",
            "log.sqlite-wal",
            "log.sqlite.commits",
            "report.html",
            "results.jsonl",
        )
    },
    **{
        f"{name} is a pipe": (lambda run, name=name: _fifo(run / name))  # type: ignore[misc]
        for name in (
            "log.sqlite",
            "config.json",
            "lock.holder",
            "log.sqlite-wal",
            "log.sqlite.writers",
            "log.sqlite.commits",
            "report.html",
        )
    },
    "config.json is endless": lambda run: _link(run / "config.json", Path("/dev/zero")),
    "config.json is deep": lambda run: _written(run / "config.json", b"[" * 1_000_000),
    "config.json is large": lambda run: _written(run / "config.json", b" " * 40_000_000),
    "config.json is a number": lambda run: _written(run / "config.json", b"5"),
    "config.json of escape codes": lambda run: _written(
        run / "config.json",
        (run / "config.json").read_bytes().replace(b'"clarify"', b'"\\u001b[31mcl\\u009b"'),
    ),
    "config.json of long numbers": lambda run: _written(
        run / "config.json", b'{"system": "clarify", "config": {"seed": ' + b"9" * 100_000 + b"}}"
    ),
    "log.sqlite is empty": lambda run: _written(run / "log.sqlite", b""),
    "log.sqlite is noise": lambda run: _written(
        run / "log.sqlite", random.Random(1).randbytes(9999)
    ),
    "log.sqlite is cut": lambda run: os.truncate(run / "log.sqlite", 9000),
    "log.sqlite is a folder": lambda run: _folder(run / "log.sqlite"),
    "the WAL is noise": lambda run: _written(
        run / "log.sqlite-wal", random.Random(2).randbytes(9999)
    ),
}
_COMMANDS = (
    ("runs", "list", "{root}"),
    ("runs", "show", "{run}"),
    ("runs", "show", "{run}", "--json"),
    ("runs", "show", "{run}", "--episode", "{episode}"),
    ("runs", "show", "{run}", "--raw"),
    ("runs", "export", "{run}", "--events"),
    ("runs", "export", "{run}", "--format", "csv"),
    ("runs", "report", "{run}", "--output", "{scratch}/report.html"),
    ("runs", "compare", "{run}", "{run}"),
    ("runs", "check", "{run}"),
    ("runs", "resume", "{run}", "--quiet"),
    ("runs", "repair", "{run}"),
    ("runs", "show", "{run}"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
#: Seconds that one command may take.
_LONGEST = 10


def make_clarify_run(path: Path) -> None:
    """A small run of R-Clarify that ended, without a model."""
    code, _, err = tried(
        "clarify", "run", "--agent", "random", "--limit", "2", "--run-dir", str(path), "--quiet"
    )
    assert code == 0, err


def craft(run: Path, name: str) -> None:
    """Do to a run directory what `name` says. Beside it a folder `outside` must not change."""
    outside = run.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "untouched").write_text("x")
    if name in FILES:
        FILES[name](run)
        return
    path = run / "log.sqlite"
    with closing(sqlite3.connect(path)) as db:
        strict = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%STRICT'"))
    loose = {
        table: sql.removesuffix("STRICT").rstrip(" ,").replace(" NOT NULL", "")
        for table, sql in strict.items()
    }
    _declare(path, strict, loose)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints=ON")
        db.executescript(ROWS[name])
    _declare(path, loose, strict)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints=ON")
        with contextlib.suppress(sqlite3.Error, ValueError, LookupError, TypeError), db:
            db.execute("BEGIN IMMEDIATE")
            integrity.digest_anew(db)


def _declare(path: Path, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    """Tables that are declared in one way, in another, whatever their rows are."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema=ON")
        for table, sql in old.items():
            query = "UPDATE sqlite_master SET sql = ? WHERE name = ? AND sql = ?"
            db.execute(query, (new[table], table, sql))


def tried(*args: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in this process; -1 where it took too long."""
    out, err = io.StringIO(), io.StringIO()

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_LONGEST)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(args))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return (-1 if "TimeoutError" in err.getvalue() else code), out.getvalue(), err.getvalue()
    except TimeoutError:
        return -1, out.getvalue(), err.getvalue()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    raise AssertionError("a command exits")


def _outside(run: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (run.parent / "outside").iterdir() if p.is_file()}


def wrong(run: Path, episode: str = "") -> Iterator[str]:
    """What goes wrong when every command is given a crafted run; nothing if all is well."""
    outside = _outside(run)
    with tempfile.TemporaryDirectory() as scratch:
        for command in _COMMANDS:
            names = {"root": run.parent, "run": run, "episode": episode, "scratch": scratch}
            args = [part.format(**names) for part in command]
            code, out, err = tried(*args)
            what = " ".join(command)
            if code not in (0, 2, 3):
                yield f"{what}: exit {code}: {err.strip()[-300:]}"
            if (found := _CONTROL.search(out + err)) is not None:
                yield f"{what}: prints {found[0]!r}"
            if _outside(run) != outside:
                yield f"{what}: changes files outside"
                outside = _outside(run)


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    names = [*ROWS, *FILES]
    rng.shuffle(names)
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        whole = Path(folder) / "whole"
        make_clarify_run(whole)
        for name in names:
            if time.monotonic() > until:
                return
            at = Path(folder) / "at"
            (at / "outside").mkdir(parents=True)
            shutil.copytree(whole, at / "run")
            craft(at / "run", name)
            found = list(wrong(at / "run"))
            yield Attempt(name, "fell" if found else "held", bool(found), "; ".join(found))
            shutil.rmtree(at)
