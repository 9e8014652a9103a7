"""Logs changed by hand whose digests are made anew: as if they had been written so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from naisei.runs.integrity import digest_anew


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
        digest_anew(db)
