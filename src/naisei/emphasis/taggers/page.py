"""An article as its features see it: codes for hashing, term weights, the page of its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf.sparse import BITS
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese.morph import tokens

__all__ = [
    "GAP",
    "Page",
    "Terms",
    "binned",
    "column",
    "content_lemmas",
    "cosine",
    "is_content",
    "named",
    "place_in_block",
    "shifted",
    "title_lemmas",
]


Ids = NDArray[np.uint64]
Codes = NDArray[np.int32]
#: Of splitmix64 (Steele, Lea & Flood 2014).
_STEP, _M1, _M2 = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@lru_cache(maxsize=1 << 17)
def _id(text: str) -> int:
    return crc32(text.encode()) + 1


def named(texts: Iterable[str]) -> Ids:
    """One number a text, the same on every machine; 0 is left for what does not exist."""
    return np.array([_id(text) for text in texts], np.uint64)


def column(template: str, *parts: Ids) -> Codes:
    """Codes in 2 … 2^BITS − 1 of a feature: a template filled with one value from each part."""
    state = np.full(len(parts[0]), _id(template), np.uint64)
    # The wrap at 2^64 is meant.
    with np.errstate(over="ignore"):
        for part in parts:
            state = (state ^ part) * _M1 + _STEP
            state = (state ^ (state >> np.uint64(30))) * _M1
            state = (state ^ (state >> np.uint64(27))) * _M2
            state ^= state >> np.uint64(31)
    codes: Codes = np.maximum(state >> np.uint64(64 - BITS), 2).astype(np.int32)
    return codes


def shifted(values: Ids, by: int) -> Ids:
    """values[i + by] at each i; 0 past the ends."""
    out = np.zeros_like(values)
    if by >= 0:
        out[: max(0, len(values) - by)] = values[by:]
    else:
        out[-by:] = values[:by]
    return out


def binned(values: ArrayLike, edges: Sequence[float]) -> Ids:
    """Which interval each value lies in: 1 below the first edge, …, len(edges) + 1."""
    return (np.searchsorted(np.asarray(edges, np.float64), values, side="right") + 1).astype(
        np.uint64
    )


_FUNCTION = frozenset({"助詞", "助動詞", "補助記号", "空白", "記号", "接頭辞"})


def is_content(pos: str) -> bool:
    """Whether a part of speech carries meaning of its own: no particle, auxiliary or mark."""
    return pos not in _FUNCTION


@lru_cache(maxsize=4096)
def title_lemmas(title: str) -> frozenset[str]:
    """Dictionary forms of the content words of a title."""
    return frozenset(t.lemma for t in tokens(title) if t.content)


@dataclass(frozen=True, slots=True)
class Terms:
    """In how many of the training articles each lemma occurs."""

    articles: int
    found_in: Mapping[str, int]

    @classmethod
    def of(cls, articles: Sequence[Article]) -> Terms:
        found: Counter[str] = Counter()
        for article in articles:
            found.update(
                {t.lemma for s in article.sentences for t in s.tokens if is_content(t.pos)}
            )
        return cls(len(articles), dict(found))

    def idf(self, lemma: str) -> float:
        """log((1 + N) / (1 + n)) + 1: 1 for a word of every article."""
        return log((1 + self.articles) / (1 + self.found_in.get(lemma, 0))) + 1

    def weighted(self, lemmas: Iterable[str]) -> dict[str, float]:
        """(1 + log count) × idf of each lemma."""
        counts = Counter(lemmas)
        return {lemma: (1 + log(n)) * self.idf(lemma) for lemma, n in counts.items()}


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """In 0 … 1 for weights that are not negative; 0 where one of them is empty."""
    if len(b) < len(a):
        a, b = b, a
    product = sum(weight * b[term] for term, weight in a.items() if term in b)
    if not product:
        return 0.0
    return product / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))


#: Empty places between sentences: what looks so far to the side sees no other sentence.
GAP = 3


def content_lemmas(sentence: Sentence) -> list[str]:
    """Dictionary forms of its content words, in order."""

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
