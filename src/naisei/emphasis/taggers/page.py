"""An article as input for features: feature codes, term weights, and the row of its words.

Also the features of Murata and Abe, which need nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf import BITS
from naisei.emphasis.schemas import Article, Sentence, Token
from naisei.japanese.morph import tokens

Ids = NDArray[np.uint64]
Codes = NDArray[np.int32]
#: Constants of splitmix64 (Steele, Lea & Flood 2014).
_STEP, _M1, _M2 = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@lru_cache(maxsize=1 << 17)
def _id(text: str) -> int:
    return crc32(text.encode()) + 1


def named(texts: Iterable[str]) -> Ids:
    """One number per text, the same on every machine; 0 is reserved for missing values."""
    return np.array([_id(text) for text in texts], np.uint64)


def column(template: str, *parts: Ids) -> Codes:
    """Codes of a feature, in 2 … 2^BITS − 1: a template filled with one value from each part."""
    state = np.full(len(parts[0]), _id(template), np.uint64)
    # Overflow at 2^64 is intended.
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
    """The interval of each value: 1 below the first edge, …, len(edges) + 1."""
    return (np.searchsorted(np.asarray(edges, np.float64), values, side="right") + 1).astype(
        np.uint64
    )


_FUNCTION = frozenset({"助詞", "助動詞", "補助記号", "空白", "記号", "接頭辞"})


def is_content(pos: str) -> bool:
    """Whether a part of speech is a content word: no particle, auxiliary or mark."""
    return pos not in _FUNCTION


@lru_cache(maxsize=4096)
def title_lemmas(title: str) -> frozenset[str]:
    """Dictionary forms of the content words of a title."""
    return frozenset(t.lemma for t in tokens(title) if t.content)


@dataclass(frozen=True, slots=True)
class Terms:
    """Number of training articles with each lemma."""

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
        """log((1 + N) / (1 + n)) + 1; 1 for a word that occurs in every article."""
        return log((1 + self.articles) / (1 + self.found_in.get(lemma, 0))) + 1

    def weighted(self, lemmas: Iterable[str]) -> dict[str, float]:
        """(1 + log count) × idf of each lemma."""
        counts = Counter(lemmas)
        return {lemma: (1 + log(n)) * self.idf(lemma) for lemma, n in counts.items()}


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Cosine, 0 to 1 for non-negative weights; 0 if one is empty."""
    if len(b) < len(a):
        a, b = b, a
    product = sum(weight * b[term] for term, weight in a.items() if term in b)
    if not product:
        return 0.0
    return product / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))


#: Gap between sentences in the row, so that features of neighbours do not cross sentences.
GAP = 3


def content_lemmas(sentence: Sentence) -> list[str]:
    """Dictionary forms of the sentence's content words, in order."""

    return [t.lemma for t in sentence.tokens if is_content(t.pos)]


@dataclass(frozen=True, slots=True)
class Page:
    """The words of an article in a row with gaps. tokens: tokens of all sentences. at: position of
    each token in the row. size: length of the row.

    sentence_of: for each token, the number of its sentence, from 0.
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
        """Numbers for a text of each token, along the row; 0 in the gaps."""
        return self.row(named([text(t) for t in self.tokens]))

    def bins(self, values: Sequence[float] | NDArray[np.float64], edges: Sequence[float]) -> Ids:
        """A binned value of each token, along the row; 0 in the gaps."""
        return self.row(binned(values, edges))

    def spread(self, per_sentence: Ids) -> Ids:
        """Copy each sentence's value to its tokens, along the row; 0 in the gaps."""
        return self.row(per_sentence[self.sentence_of] if len(self.at) else per_sentence[:0])

    def row(self, values: Ids) -> Ids:
        out = np.zeros(self.size, np.uint64)
        out[self.at] = values
        return out

    def cut(self, columns: Sequence[Codes]) -> list[Codes]:
        """Split columns along the row into one table (tokens, columns) per sentence."""
        table = np.stack([c[self.at] for c in columns], 1)
        ends = np.cumsum([len(s.tokens) for s in self.article.sentences])
        return np.split(table, ends[:-1]) if len(ends) else []


def place_in_block(article: Article) -> tuple[list[int], list[int]]:
    """Per sentence: number of sentences before and after it in its paragraph."""
    sizes: dict[int, int] = {}
    before: list[int] = []
    for sentence in article.sentences:
        before.append(sizes.get(sentence.block, 0))
        sizes[sentence.block] = before[-1] + 1
    after = [sizes[s.block] - n - 1 for s, n in zip(article.sentences, before, strict=True)]
    return before, after


# The features of Murata and Abe as the thesis names them (§4.4.4): word, part of speech,
# TF-IDF, paragraph, title. They use only one sentence, its position and the title.


def murata_columns(page: Page, terms: Terms) -> list[Codes]:
    """Columns along the page's row."""
    word, pos = page.words(lambda t: t.surface), page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    tfidf, title = _tfidf(page, terms), _in_title(page)
    out = [column("bias", np.ones(page.size, np.uint64))]
    for by in range(-2, 3):
        out += [
            column(f"word{by}", shifted(word, by)),
            column(f"pos{by}", shifted(pos, by)),
        ]
    for by in (-1, 0, 1):
        out += [
            column(f"tfidf{by}", shifted(tfidf, by)),
            column(f"title{by}", shifted(title, by)),
        ]
    for by in (-1, 0):
        out += [
            column(f"words{by}", shifted(word, by), shifted(word, by + 1)),
            column(f"pos-pos{by}", shifted(pos, by), shifted(pos, by + 1)),
        ]
    paragraph, share = _paragraph(page), page.spread(_title_share(page))
    return [
        *out,
        column("pos3", shifted(pos, -1), pos, shifted(pos, 1)),
        column("lemma", lemma),
        column("tfidf-pos", tfidf, pos),
        column("title-pos", title, pos),
        *(column(f"paragraph{i}", p) for i, p in enumerate(paragraph)),
        column("title-share", share),
        column("title-share-pos", share, pos),
    ]


def _tfidf(page: Page, terms: Terms) -> Ids:
    weights = terms.weighted(t.lemma for t in page.tokens if is_content(t.pos))
    ranked = sorted(weights.values())
    values = [weights[t.lemma] if is_content(t.pos) else -1.0 for t in page.tokens]
    # The word's rank within its article, so that long articles are comparable.
    place = np.searchsorted(ranked, values, side="right") / max(1, len(ranked))
    place[np.array(values) < 0] = -1
    return page.bins(place, (0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98))


def _in_title(page: Page) -> Ids:
    title = title_lemmas(page.article.title)
    return page.row(
        np.array([1 + is_content(t.pos) + (t.lemma in title) for t in page.tokens], np.uint64)
    )


def _title_share(page: Page) -> Ids:
    """Share of the title's words in each sentence."""
    title = title_lemmas(page.article.title)
    shares = [
        len(title.intersection(content_lemmas(s))) / len(title) if title else -1.0
        for s in page.article.sentences
    ]
    return binned(shares, (0, 0.01, 0.25, 0.5, 0.75))


def _paragraph(page: Page) -> list[Ids]:
    before, after = place_in_block(page.article)
    blocks = {b: i for i, b in enumerate(dict.fromkeys(s.block for s in page.article.sentences))}
    number = [blocks[s.block] for s in page.article.sentences]
    first = binned(before, (1, 2, 3, 5))
    last = binned(after, (1, 2, 3, 5))
    paragraph = binned(number, (1, 2, 3, 5, 10, 20))
    final = named(["last" if n == len(blocks) - 1 else "other" for n in number])
    return [page.spread(values) for values in (first, last, paragraph, final)]
