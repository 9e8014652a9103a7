"""From emphasised characters to labels of words."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.emphasis.zero_shot.passages import Passage

__all__ = ["token_labels"]


def token_labels(passage: Passage, bold: Sequence[bool]) -> list[list[bool]]:
    """Per sentence and token: emphasised if at least half of it is, as in the corpora; never
    one that cannot be."""
    rows: list[list[bool]] = []
    for sentence, at in passage.sentences:
        base = at - (sentence.tokens[0].start if sentence.tokens else 0)
        row = []
        for token in sentence.tokens:
            start, end = base + token.start, base + token.end
            share = sum(bold[start:end]) / (end - start)
            row.append(token.label is not None and share >= 0.5)
        rows.append(row)
    return rows
