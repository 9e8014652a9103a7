"""Logs changed by hand whose digests are made anew: as if they had been written so."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from naisei.runs.integrity import CHAIN_KEY, digest_anew, seal


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        ((note,),) = db.execute("SELECT value FROM meta WHERE key = ?", (CHAIN_KEY,))
        db.execute(statement)
        digest_anew(db, json.loads(note)["origin"])
    seal(path)
