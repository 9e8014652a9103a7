"""Stored conversations: listing, limits, and removal of unused ones."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from naisei.core import InputError
from naisei.files import output_error
from naisei.lengths import KEPT_DAYS, KEPT_IN_ALL, KEPT_OF_ONE
from naisei.runs.directory import remove
from naisei.runs.frozen import Frozen
from naisei.web.conversations.kind import SYSTEM, ConversationConfig
from naisei.web.html import Refused


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation in a list. created: ISO 8601, UTC."""

    id: str
    kind: str
    title: str
    created: str

    @property
    def path(self) -> str:
        """The URL path of its page."""
        return f"/{self.kind.partition('-')[0]}/{self.id}"


def check_room(folder: Path, own: Path) -> None:
    """Check the limits on stored conversations. Raises `HTTPException` (409)."""
    if sum(1 for _ in own.glob("*")) >= KEPT_OF_ONE:
        raise Refused(
            409,
            f"会話は {KEPT_OF_ONE:,} 件までです。要らないものを消してください",
            f"at most {KEPT_OF_ONE:,} conversations; please remove some",
        )
    if sum(1 for _ in folder.glob("*/*")) >= KEPT_IN_ALL:
        raise Refused(409, "このサーバーの会話はもういっぱいです", "this server can keep no more")


def expire(state: Path, now: float | None = None) -> int:
    """Remove conversations and visitors' data unused for `KEPT_DAYS`; returns the number of removed
    folders. now: seconds since the epoch."""
    oldest = (time.time() if now is None else now) - KEPT_DAYS * 24 * 3600
    gone = 0
    for folder in [*state.glob("conversations/*/*"), *state.glob("visitors/*")]:
        try:
            if max(file.lstat().st_mtime for file in [folder, *folder.rglob("*")]) < oldest:
                remove(folder)
                gone += 1
        except OSError as error:
            raise output_error(error, folder) from error
    for folder in state.glob("conversations/*"):
        with suppress(OSError):  # the visitor has other conversations
            folder.rmdir()
    return gone


def entries_in(folder: Path, kind: str | None, most: int) -> list[Entry]:
    """Return the entries of a visitor's folder, newest first."""
    found = []
    for config in folder.glob("*/config.json"):
        try:
            frozen = Frozen.read(config)
            held = ConversationConfig.model_validate(frozen.config)
        except (InputError, ValidationError):
            continue  # foreign, or from another version
        if frozen.system == SYSTEM and kind in (None, held.kind):
            found.append(Entry(config.parent.name, held.kind, held.title, frozen.created))
    return sorted(found, key=lambda entry: entry.created, reverse=True)[:most]
