"""`scatter`: too many sentences, too many topics. Source: the specification, §§3, 6."""

from __future__ import annotations

from functools import lru_cache

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Limits
from naisei.japanese.sentences import sentences_from

__all__ = ["check_scatter"]

_PASSED = PASSED["scatter"]
_WARN, _RETRY = Status.WARN, Status.RETRY


def check_scatter(line: Line, topics: tuple[str, ...], limits: Limits) -> Check:
    """RETRY if both limits of RETRY are reached, WARN if either limit of WARN is."""
    many = line.count >= limits.warn_sentences
    if not many and len(topics) < limits.warn_topics:
        return _PASSED
    rejected = line.count >= limits.retry_sentences and len(topics) >= limits.retry_topics
    spans = list(topics)
    if many:
        span = sentences_from(line.masked, limits.warn_sentences - 1)
        spans.append(line.evidence(*span).strip())
    said = _said(line.count, len(topics), limits.warn_sentences - 1, limits.advised)
    return found(line, "scatter", _RETRY if rejected else _WARN, *said, spans)


@lru_cache(maxsize=256)
def _said(
    sentences: int, topics: int, most: int, advised: int
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Reason and suggestion, each in Japanese and English."""
    return (
        (
            f"{sentences}文、話題{topics}つで、話が散っています。",
            f"{sentences} sentences and {topics} topics: the line is scattered.",
        ),
        (
            f"話題を一つに絞り、{most}文、{advised}文字以内にしてください。",
            f"Keep to one topic, {most} sentences and {advised} characters.",
        ),
    )
