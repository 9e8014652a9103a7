"""The fixed words of the task: how a user refuses a question."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["REFUSAL", "is_refusal"]

#: What a user simulator says to a question that helps nobody (paper, Figure 6, rule 4).
REFUSAL = "【回答できません】"

_REFUSAL = re.compile(
    r"[\[【「(]?\s*(回答できません|cannot answer)\s*[\]】」)]?[。.]?", re.IGNORECASE
)


def is_refusal(answer: str) -> bool:
    """Whether an answer is the refusal and nothing else, whatever brackets it wears."""
    return _REFUSAL.fullmatch(unicodedata.normalize("NFKC", answer).strip()) is not None
