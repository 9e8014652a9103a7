"""How a check answers: a shared PASS, or a status with evidence, reason and suggestion."""

from __future__ import annotations

from collections.abc import Iterable

from naisei.core import Check, Status
from naisei.director.verdict import CHECK_NAMES
from naisei.lang import language

__all__ = ["EVIDENCE", "PASSED", "found"]

#: One object for each check that found nothing.
PASSED = {name: Check(name=name, status=Status.PASS) for name in CHECK_NAMES}
#: So many matched spans are reported, each cut to so many characters.
EVIDENCE, _LONGEST = 8, 120


def found(
    name: str,
    status: Status,
    reason: tuple[str, str],
    suggestion: tuple[str, str],
    evidence: Iterable[str] = (),
) -> Check:
    """A check that found something; the same span is reported once, at most `EVIDENCE` spans.

    reason, suggestion: in Japanese and in English; the user's language is taken.
    """
    chosen = 0 if language() == "ja" else 1
    spans = list(dict.fromkeys(span[:_LONGEST] for span in evidence if span))[:EVIDENCE]
    return Check(
        name=name,
        status=status,
        reason=reason[chosen],
        suggestion=suggestion[chosen],
        evidence=tuple(spans),
    )
