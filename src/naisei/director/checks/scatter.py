"""`scatter`: too many sentences, too many topics. Source: the specification, §§3, 6."""

from __future__ import annotations

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Limits

__all__ = ["check_scatter"]


def check_scatter(line: Line, topics: tuple[str, ...], limits: Limits) -> Check:
    """RETRY if both limits of RETRY are reached, WARN if either limit of WARN is."""
    sentences = len(line.sentences)
    many = sentences >= limits.warn_sentences
    if not many and len(topics) < limits.warn_topics:
        return PASSED["scatter"]
    rejected = sentences >= limits.retry_sentences and len(topics) >= limits.retry_topics
    spans = list(topics)
    if many:
        start = line.sentences[limits.warn_sentences - 1][0]
        spans.append(line.evidence(start, line.sentences[-1][1]).strip())
    return found(
        line,
        "scatter",
        Status.RETRY if rejected else Status.WARN,
        (
            f"{sentences}文、話題{len(topics)}つで、話が散っています。",
            f"{sentences} sentences and {len(topics)} topics: the line is scattered.",
        ),
        (
            f"話題を一つに絞り、{limits.warn_sentences - 1}文、"
            f"{limits.advised}文字以内にしてください。",
            f"Keep to one topic, {limits.warn_sentences - 1} sentences and "
            f"{limits.advised} characters.",
        ),
        spans,
    )
