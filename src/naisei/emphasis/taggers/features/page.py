"""An article laid out as one row of tokens, so that features are made for all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.emphasis.taggers.features.codes import Codes, Ids, binned, named

__all__ = ["GAP", "Page", "content_lemmas", "place_in_block"]

#: Empty places between sentences: what looks so far to the side sees no other sentence.
GAP = 3


def content_lemmas(sentence: Sentence) -> list[str]:
    """Dictionary forms of its content words, in order."""
    from naisei.emphasis.taggers.features.terms import is_content

    return [t.lemma for t in sentence.tokens if is_content(t.pos)]


@dataclass(frozen=True, slots=True)
class Page:
    """tokens: of all sentences. at: where each of them lies in the row. size: of the row.

    sentence_of: for each token, the number of its sentence, counted from 0.
    """

    article: Article
    tokens: tuple[Token, ...]
    at: NDArray[np.int64]
    size: int
    sentence_of: NDArray[np.int64]

    @classmethod
    def of(cls, article: Article) -> Page:
        at: list[int] = []
        numbers: list[int] = []
        place = GAP
        for number, sentence in enumerate(article.sentences):
            at += range(place, place + len(sentence.tokens))
            numbers += [number] * len(sentence.tokens)
            place += len(sentence.tokens) + GAP
        own = tuple(t for s in article.sentences for t in s.tokens)
        return cls(article, own, np.array(at, np.int64), place, np.array(numbers, np.int64))

    def words(self, text: Callable[[Token], str]) -> Ids:
        """A text of each token as numbers along the row; 0 in the gaps."""
        return self.row(named([text(t) for t in self.tokens]))

    def bins(self, values: Sequence[float] | NDArray[np.float64], edges: Sequence[float]) -> Ids:
        """A figure of each token, binned, along the row; 0 in the gaps."""
        return self.row(binned(values, edges))

    def spread(self, per_sentence: Ids) -> Ids:
        """A value of each sentence given to each of its tokens; 0 in the gaps."""
        return self.row(per_sentence[self.sentence_of] if len(self.at) else per_sentence[:0])

    def row(self, values: Ids) -> Ids:
        out = np.zeros(self.size, np.uint64)
        out[self.at] = values
        return out

    def cut(self, columns: Sequence[Codes]) -> list[Codes]:
        """Columns along the row as one table (tokens, columns) a sentence."""
        table = np.stack([c[self.at] for c in columns], 1)
        ends = np.cumsum([len(s.tokens) for s in self.article.sentences])
        return np.split(table, ends[:-1]) if len(ends) else []


def place_in_block(article: Article) -> tuple[list[int], list[int]]:
    """For each sentence, how many of its paragraph come before it, and how many after."""
    sizes: dict[int, int] = {}
    before: list[int] = []
    for sentence in article.sentences:
        before.append(sizes.get(sentence.block, 0))
        sizes[sentence.block] = before[-1] + 1
    after = [sizes[s.block] - n - 1 for s, n in zip(article.sentences, before, strict=True)]
    return before, after
