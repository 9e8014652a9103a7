"""Give the runs that ship (`naisei/data/recorded_runs`) the digests of their `config.json` of now:
after a change of what a run's identity is made of.

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
from naisei.runs.rows import dump


def main() -> None:
    for config in sorted(Path(str(files("naisei"))).glob("data/recorded_runs/*/config.json")):
        log, origin = config.with_name("log.sqlite"), Frozen.read(config).digest
        with closing(sqlite3.connect(log)) as db, db:
            note = dump({"format": 1, "origin": origin})
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (note, CHAIN_KEY))
            digest_anew(db, origin)
        seal(log)
        with RunDirectory.look(config.parent) as run:
            print(config.parent.name, run.log.verified().text())


if __name__ == "__main__":
    main()
