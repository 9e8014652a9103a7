"""How important a memory is, 1 to 10, by a rule: no model is asked.

The rule looks at form alone (length, figures, questions) and at what kind of memory it is. A
model may rate the utterances later, many in one call (`importance="model"`).
"""

from __future__ import annotations

__all__ = ["FACT", "SUMMARY", "reflected", "said"]

#: What is so of the persona, and what a session left behind.
FACT, SUMMARY = 6, 7
_SHORT, _LONG = 12, 50
#: A character of Japanese says about as much as so many of English.
_WIDER = 2.5


def said(text: str) -> int:
    """An utterance: 2 for a word or two, more for a long one, for figures and for questions."""
    length = sum(1 if ord(c) > 0x2E80 else 1 / _WIDER for c in text)
    points = 2 if length < _SHORT else 4 if length < _LONG else 5
    points += any(c.isdigit() for c in text)
    points += "？" in text or "?" in text
    return points


def reflected(moved: int) -> int:
    """A reading. moved: by how much the three numbers differ from those before, 0 to 18."""
    return min(4 + moved, 8)
