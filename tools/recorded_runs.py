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
from naisei.runs.frozen import Frozen
from naisei.runs.integrity import CHAIN_KEY, digest_anew, seal
from naisei.runs.rows import SCHEMA, dump


def main() -> None:
    for config in sorted(Path(str(files("naisei"))).glob("data/recorded_runs/*/config.json")):
        log, origin = config.with_name("log.sqlite"), Frozen.read(config).digest
        _tables_of_now(log)
        with closing(sqlite3.connect(log)) as db, db:
            note = dump({"format": 1, "origin": origin})
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (note, CHAIN_KEY))
            digest_anew(db, origin)
        seal(log)
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
