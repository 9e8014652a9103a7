"""What an attack reports, and what parts share."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Attempt"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try. kind: of attack. fell: whether it got through. outcome: in a word or two, for the
    counts. note: what is needed to repeat it."""

    kind: str
    outcome: str
    fell: bool = False
    note: str = ""
