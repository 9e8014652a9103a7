"""No memory: every trial starts as if it were the first."""

from __future__ import annotations

from pydantic import JsonValue


class NoMemory:
    """Recalls nothing; the reflector is never called."""

    name = "none"
    prompt = ""
    reflects = False

    def recall(self) -> str:
        return ""

    def previous(self) -> str:
        return ""

    def add(self, item: JsonValue) -> None:
        raise AssertionError("a memory that does not reflect is never added to")


def build() -> NoMemory:
    """A `NoMemory`."""
    return NoMemory()
