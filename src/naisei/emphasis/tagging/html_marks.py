"""Suggestions in HTML."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.emphasis.corpus.source import Insertion
from naisei.emphasis.tagging.stretches import Stretch

__all__ = ["html_marks"]


def html_marks(found: Sequence[Stretch]) -> list[Insertion]:
    """`<strong>` round each stretch; none holds a tag, so the elements stay well nested."""
    return [
        insertion
        for stretch in found
        for insertion in (
            Insertion(stretch.start, "<strong>"),
            Insertion(stretch.end, "</strong>"),
        )
    ]
