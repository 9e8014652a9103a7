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
#: So long is a word at most.
_WORD = 8
_RETRY = Status.RETRY


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
    if line.worst is not _RETRY:
        line.worst = status
    spoken = line.spoken
    if len(evidence) == 1 and evidence[0]:
        spans: tuple[str, ...] = (evidence[0][:_LONGEST],)
        if len(spans[0]) <= _WORD:
            return _kept(name, status is _RETRY, reason[spoken], suggestion[spoken], spans)
    else:
        spans = tuple(dict.fromkeys([span[:_LONGEST] for span in evidence if span]))[:EVIDENCE]
    return _made(name, status is _RETRY, reason[spoken], suggestion[spoken], spans)


def _made(
    name: str, rejected: bool, reason: str, suggestion: str, evidence: tuple[str, ...]
) -> Check:
    return Check(
        name=name,
        status=_RETRY if rejected else Status.WARN,
        reason=reason,
        suggestion=suggestion,
        evidence=evidence,
    )


#: A single word is found again and again in a script; a sentence is not.
_kept = lru_cache(maxsize=4096)(_made)
