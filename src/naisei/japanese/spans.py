"""Sentences as they stand: pieces of the text itself, which joined give it back."""

from __future__ import annotations

import re

__all__ = ["sentence_spans"]

_END = re.compile(r"(?<=[。！？!?])(?![。！？!?」』）)])|(?<=\n)|(?<=[.])(?=\s)")


def sentence_spans(text: str) -> list[str]:
    """The sentences of a text, unchanged, marks and line breaks kept with what they end.

    >>> sentence_spans("はい。「寝た。」と言う。Yes. No.")
    ['はい。', '「寝た。」と言う。', 'Yes.', ' No.']
    """
    return [piece for piece in _END.split(text) if piece]
