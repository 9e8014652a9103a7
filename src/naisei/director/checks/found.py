"""How a check answers: a shared PASS, or a status with evidence, reason and suggestion."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from naisei.core import Check, Status
from naisei.director.prepare import Line
from naisei.director.verdict import CHECK_NAMES

__all__ = ["EVIDENCE", "PASSED", "found"]

#: One object for each check that found nothing.
PASSED = {name: Check(name=name, status=Status.PASS) for name in CHECK_NAMES}
#: So many matched spans are reported, each cut to so many characters.
EVIDENCE, _LONGEST = 8, 120


def found(
    line: Line,
    name: str,
    status: Status,
    reason: tuple[str, str],
    suggestion: tuple[str, str],
    evidence: Iterable[str] = (),
) -> Check:
    """A check that found something; the same span is reported once, at most `EVIDENCE` spans.

    reason, suggestion: in Japanese and in English; the user's language is taken.
    """
    spans = tuple(dict.fromkeys(span[:_LONGEST] for span in evidence if span))[:EVIDENCE]
    return _made(name, status, reason, suggestion, spans, line.language)


@lru_cache(maxsize=4096)
def _made(
    name: str,
    status: Status,
    reason: tuple[str, str],
    suggestion: tuple[str, str],
    evidence: tuple[str, ...],
    spoken: str,
) -> Check:
    chosen = 0 if spoken == "ja" else 1
    return Check(
        name=name,
        status=status,
        reason=reason[chosen],
        suggestion=suggestion[chosen],
        evidence=evidence,
    )
