"""TF-IDF of words, and how alike sentences, the title and the article are by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

from naisei.emphasis.schemas import Article
from naisei.japanese.morph import tokens

__all__ = ["Terms", "cosine", "is_content", "title_lemmas"]

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
