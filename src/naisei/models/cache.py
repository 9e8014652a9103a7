"""A cache of replies in SQLite."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from naisei.core import Chat, InputError, Sampling, Where, canonical, fingerprint
from naisei.identity import of_model
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.models.base import ChatModel

_TABLE = "create table if not exists replies (key text primary key, value text not null)"


def cache_key(model: ChatModel, chat: Chat[object], sampling: Sampling, where: Where) -> str:
    """Digest of the model, its code here, endpoint, messages, schema, sampling, instance, trial
    and step."""
    return fingerprint(
        [
            model.name,
            of_model(model.name),
            getattr(model, "base_url", None),
            chat.request(),
            sampling.to_json(),
            where.instance,
            where.trial,
            list(where.path),
        ]
    )


class ReplyCache:
    """Validated values by key, as JSON. Several processes may share one file.

    Raises:
        InputError: the file is not an SQLite database, or not writable.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                say(
                    f"応答のキャッシュとして使えません: {error}",
                    f"cannot be used as a cache of replies: {error}",
                ),
                place=str(path),
                remedy=say(
                    "別のファイルを指定するか、このファイルを消してください",
                    "name another file, or delete it",
                ),
            ) from error

    def get(self, key: str) -> tuple[JsonValue] | None:
        """The value, in a tuple (a value may be null), or `None`."""
        row = self._db.execute("select value from replies where key = ?", (key,)).fetchone()
        return None if row is None else (json.loads(row[0]),)

    def put(self, key: str, value: JsonValue) -> None:
        """Store a value; the first one stays, so that concurrent calls agree."""
        self._db.execute("insert or ignore into replies values (?, ?)", (key, canonical(value)))

    def close(self) -> None:
        self._db.close()
