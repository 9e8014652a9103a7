"""What one episode leaves: which words a tagger marked in the documents it was tested on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei.emphasis.metrics import spans
from naisei.emphasis.schemas import Article

__all__ = ["Marked", "PartResult", "marked"]

#: Number of a sentence, first token, one past the last.
Span = tuple[int, int, int]


class Marked(BaseModel):
    """What was marked in one document. untitled: what was marked where the title was withheld;
    `None` if that was not tried."""

    model_config = ConfigDict(frozen=True)

    article: str
    spans: tuple[Span, ...] = ()
    untitled: tuple[Span, ...] | None = None

    def labels(self, article: Article, *, untitled: bool = False) -> list[list[bool]]:
        """Per sentence and token."""
        rows = [[False] * len(s.tokens) for s in article.sentences]
        for number, start, end in (self.untitled or ()) if untitled else self.spans:
            rows[number][start:end] = [True] * (end - start)
        return rows


class PartResult(BaseModel):
    """One part of the cross-validation, or one document given to a language model.

    bins: of words by their probability, ten of equal width: how many, the sum of their
    probabilities, how many are emphasised; empty where the tagger gives labels only. tokens:
    tagged once. trained, tagged: seconds. aligned: share of the text that the reply of a
    language model repeats; 1 for taggers.
    """

    model_config = ConfigDict(frozen=True)

    documents: tuple[Marked, ...]
    bins: tuple[tuple[int, float, int], ...] = ()
    tokens: int = 0
    trained: float = 0.0
    tagged: float = 0.0
    aligned: float = 1.0


def marked(labels: Sequence[Sequence[bool]]) -> tuple[Span, ...]:
    """Labels per sentence as spans, in order."""
    return tuple((n, *span) for n, row in enumerate(labels) for span in sorted(spans(row)))
