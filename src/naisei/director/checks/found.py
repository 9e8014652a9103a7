"""How a check answers: a shared PASS, or a status with evidence, reason and suggestion."""

from __future__ import annotations

from collections.abc import Sequence
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
    evidence: Sequence[str],
) -> Check:
    """A check that found something; the same span is reported once, at most `EVIDENCE` spans.

    reason, suggestion: in Japanese and in English; the user's language is taken.
    """
    spoken = 0 if line.language == "ja" else 1
    if len(evidence) == 1 and evidence[0]:
        spans: tuple[str, ...] = (evidence[0][:_LONGEST],)
    else:
        spans = tuple(dict.fromkeys([span[:_LONGEST] for span in evidence if span]))[:EVIDENCE]
    return _made(name, status, reason[spoken], suggestion[spoken], spans)


# The same few words are found again and again, and a dictionary is faster than a model.
@lru_cache(maxsize=4096)
def _made(
    name: str, status: Status, reason: str, suggestion: str, evidence: tuple[str, ...]
) -> Check:
    return Check(name=name, status=status, reason=reason, suggestion=suggestion, evidence=evidence)
