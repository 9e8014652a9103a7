"""Text for a terminal: what documents and models say cannot move the cursor or hide itself."""

from __future__ import annotations

import re

__all__ = ["plain_text"]

#: Escape sequences, then control characters but line break and tab, then marks of direction.
_UNSAFE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def plain_text(text: str) -> str:
    """Without escape sequences, control characters and marks that turn the direction."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))
