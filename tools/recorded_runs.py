"""Give the runs that ship (`naisei/data/recorded_runs`) the tables and digests of now: after a
change of what a run's identity is made of, or of what a log is.

    python tools/recorded_runs.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from naisei.runs.directory import RunDirectory
from naisei.runs.integrity import digest_anew
from naisei.runs.rows import SCHEMA


def main() -> None:
    for config in sorted(Path(str(files("naisei"))).glob("data/recorded_runs/*/config.json")):
        log = config.with_name("log.sqlite")
        _tables_of_now(log)
        with closing(sqlite3.connect(log)) as db, db:
            digest_anew(db)
        with RunDirectory.look(config.parent) as run:
            print(config.parent.name, run.log.verified().text())


def _tables_of_now(log: Path) -> None:
    new = log.with_suffix(".new")
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.executescript(f"PRAGMA journal_mode=WAL; {SCHEMA}")
        db.execute("ATTACH ? AS old", (str(log),))
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            names = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            db.execute(f"INSERT INTO main.{table}({names}) SELECT {names} FROM old.{table}")
    new.replace(log)


if __name__ == "__main__":
    main()
