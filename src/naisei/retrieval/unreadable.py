"""A file that cannot be read: data for the report, not a crash."""

from __future__ import annotations

from naisei.core import NaiseiError

__all__ = ["Unreadable"]


class Unreadable(NaiseiError):
    """path: the file; why: one phrase in the user's language (encrypted, broken, empty, …)."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path}: {why}")
