"""Memo: one note, rewritten after each failure (Trial-Updating Reflection).

Source: R-Clarify, §4.2: a single memo is carried between trials and replaced by its
update, which bounds the context.
"""

from __future__ import annotations

from pydantic import JsonValue


class Memo:
    """Stores only the latest note; the reflector reads and rewrites it."""

    name = "tur"
    prompt = "tur.v3"
    reflects = True

    def __init__(self, note: str = "") -> None:
        self.note = note

    def recall(self) -> str:
        return self.note

    def previous(self) -> str:
        return self.note

    def add(self, item: JsonValue) -> None:
        self.note = str(item)


def build() -> Memo:
    """An empty memo."""
    return Memo()
