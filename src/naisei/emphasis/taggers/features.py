"""Features of each word, from the layout, its sentence and the whole article."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.crf import BLOCKED, NOTHING
from naisei.emphasis.phrases import bracket_pairs
from naisei.emphasis.taggers.page import (
    Codes,
    Ids,
    Page,
    Terms,
    binned,
    column,
    content_lemmas,
    cosine,
    is_content,
    murata_columns,
    named,
    place_in_block,
    shifted,
    title_lemmas,
)
from naisei.japanese.morph import phrase_starts

#: Separators between a term and its explanation.
_PARTING = frozenset(":：—–-=")
_FAR = 99


def layout_columns(page: Page, script: Ids) -> list[Codes]:
    """Layout features as columns along the page's row. script: the scripts in each word."""
    word, pos = page.words(lambda t: t.surface), page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    fixed = page.row(np.array([1 + (t.label is None) for t in page.tokens], np.uint64))
    place, size = _in_paragraph(page)
    parting = page.bins(_to_parting(page), (1, 2, 3, 5, 8))
    first, last = page.words(lambda t: t.surface[:1]), page.words(lambda t: t.surface[-1:])
    return [
        column("fixed", shifted(fixed, -1), shifted(fixed, 1)),
        column("fixed-pos", shifted(fixed, -1), pos, shifted(fixed, 1)),
        column("fixed2", shifted(fixed, -2), shifted(fixed, 2)),
        column("place-size", place, size),
        column("place-parting", place, parting),
        column("place-parting-pos", place, parting, pos),
        column("size-pos", size, pos),
        column("place-script", place, script),
        column("first-letter", first, script),
        column("last-letter", last, script),
        column("lemma-pos1", lemma, shifted(pos, 1)),
        column("lemma-1-script", shifted(lemma, -1), script),
        column("lemma1-script", shifted(lemma, 1), script),
        column("words-1-1", shifted(word, -1), shifted(word, 1)),
    ]


def _in_paragraph(page: Page) -> tuple[Ids, Ids]:
    """Per word: number of words before it in its paragraph, and the paragraph's total."""
    seen: dict[int, int] = {}
    before: list[int] = []
    for sentence in page.article.sentences:
        start = seen.get(sentence.block, 0)
        before += range(start, start + len(sentence.tokens))
        seen[sentence.block] = start + len(sentence.tokens)
    sizes = binned([seen[s.block] for s in page.article.sentences], (3, 6, 10, 20, 40, 80))
    return page.bins(before, (1, 2, 3, 5, 8, 13)), page.spread(sizes)


def _to_parting(page: Page) -> list[int]:
    """Number of words between each word and the next colon or dash of its sentence."""
    out: list[int] = []
    for sentence in page.article.sentences:
        left, row = _FAR, []
        for token in reversed(sentence.tokens):
            row.append(left)
            left = 0 if token.surface in _PARTING else left + 1
        out += reversed(row)
    return out


#: Number of words of a sentence used as features.
_WORDS = 40
_LIKE = (0.001, 0.05, 0.1, 0.2, 0.3, 0.5)
_SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)


def sentence_columns(page: Page, terms: Terms) -> Codes:
    """Codes, (sentences, columns); 0 if a sentence has no such feature."""
    sentences = page.article.sentences
    n = len(sentences)
    weights = [terms.weighted(content_lemmas(s)) for s in sentences]
    whole = terms.weighted(lemma for s in sentences for lemma in content_lemmas(s))
    title = {lemma: terms.idf(lemma) for lemma in title_lemmas(page.article.title)}
    to_title = np.array([cosine(w, title) for w in weights])
    to_whole = np.array([cosine(w, whole) for w in weights])
    before, after = place_in_block(page.article)
    first, last = binned(before, (1, 2, 3, 5)), binned(after, (1, 2, 3, 5))
    place = binned(np.arange(n) / max(1, n), _SHARES)
    length = binned([len(s.tokens) for s in sentences], (4, 8, 15, 25, 40, 60))
    likes = binned(to_title, _LIKE), binned(to_whole, _LIKE)
    ranks = tuple(binned(_rank(v), _SHARES) for v in (to_title, to_whole))
    marks = named(["".join(sorted(_marks(s.text))) for s in sentences])
    ending = named(["".join(t.lemma for t in s.tokens[-3:]) for s in sentences])
    opening = named([s.tokens[0].lemma if s.tokens else "" for s in sentences])
    single = {
        "first": first, "last": last, "place": place, "length": length, "marks": marks,
        "title": likes[0], "whole": likes[1], "title-rank": ranks[0], "whole-rank": ranks[1],
        "ending": ending, "opening": opening, "count": binned([n] * n, (5, 10, 20, 40, 80)),
    }  # fmt: skip
    out = [column(name, values) for name, values in single.items()]
    out += [
        column("first-last", first, last),
        column("place-first", place, first),
        column("title-first", likes[0], first),
        column("length-first", length, first),
    ]
    for by in (-1, 1):
        for name in ("title", "whole", "length", "opening", "ending", "marks"):
            out.append(column(f"{name}{by}", shifted(single[name], by)))
    table = np.concatenate([np.stack(out, 1), _bag(weights)], 1)
    return table.astype(np.int32)


def _bag(weights: list[dict[str, float]]) -> NDArray[np.int32]:
    """The words of each sentence with the highest weights, one per column."""
    bag = np.zeros((len(weights), _WORDS), np.int32)
    for row, weighted in zip(bag, weights, strict=True):
        words = sorted(weighted, key=lambda w: (-weighted[w], w))[:_WORDS]
        row[: len(words)] = column("has", named(words))
    return bag


def _marks(text: str) -> set[str]:
    return {c for c in text if c in '「『“"(（！？!?：:→・％%'}


def _rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the article's sentences that each sentence exceeds."""
    if not len(values):
        return values
    placed: NDArray[np.float64] = np.searchsorted(np.sort(values), values) / len(values)
    return placed


_COUNTS = (2, 3, 5, 8, 16)
_PLACES = (1, 2, 3, 5, 8, 13, 21, 34)


def context_columns(page: Page) -> list[Codes]:
    """Columns along the page's row, in addition to those of Murata and Abe."""
    pos, lemma = page.words(lambda t: t.pos), page.words(lambda t: t.lemma)
    script = page.words(lambda t: _script(t.surface))
    length = page.bins([len(t.surface) for t in page.tokens], (2, 3, 4, 6, 9))
    bracket, held = _brackets(page)
    mention, times = _mentions(page)
    begin, end = _token_positions(page)
    out = [
        column("script-length", script, length),
        column("scripts", shifted(script, -1), script, shifted(script, 1)),
        column("bracket", bracket),
        column("bracket-held", bracket, held),
        column("bracket-pos", bracket, pos),
        column("mention", mention, times),
        column("mention-pos", mention, pos),
        column("mention-lemma", mention, lemma),
        column("mention-bracket", mention, bracket, script),
        column("mentions", shifted(mention, -1), mention, shifted(mention, 1)),
        column("begin", begin),
        column("end", end),
        column("begin-pos", begin, pos),
    ]
    for by in (-1, 1):
        out += [
            column(f"bracket{by}", shifted(bracket, by)),
            column(f"lemma{by}", shifted(lemma, by)),
        ]
    for by in (-3, 3):
        out.append(column(f"word{by}", shifted(page.words(lambda t: t.surface), by)))
    first, last = _edges(page)
    return [
        *out,
        *layout_columns(page, script),
        column("opening", page.spread(first)),
        column("closing", page.spread(last)),
        column("closing-pos", page.spread(last), pos),
        *_phrase_columns(page, pos, lemma),
    ]


def _phrase_columns(page: Page, pos: Ids, lemma: Ids) -> list[Codes]:
    """Position of a word in its phrase (文節), since emphasis follows phrases, often without
    particles."""
    place: list[str] = []
    closing: list[str] = []
    for sentence in page.article.sentences:
        tokens = sentence.tokens
        edges = [i for i, starts in enumerate(phrase_starts(tokens)) if starts] + [len(tokens)]
        for first, last in pairwise(edges):
            core = max(
                (i + 1 for i in range(first, last) if is_content(tokens[i].pos)), default=first
            )
            place += ["B" if i == first else "I" if i < core else "E" for i in range(first, last)]
            tail = "".join(t.lemma for t in tokens[core:last])
            closing += [tail] * (last - first)
    stands, ends = page.row(named(place)), page.row(named(closing))
    after = shifted(stands, 1)
    return [
        column("phrase", stands, after),
        column("phrase-pos", stands, after, pos),
        column("phrase-lemma1", stands, shifted(lemma, 1)),
        column("phrase-tail", stands, ends),
        column("phrase-tail1", stands, after, shifted(ends, 1)),
    ]


def _script(surface: str) -> str:
    """The scripts in a word, in order, each once: 漢, ひ, カ, A, 9 or a mark."""
    return "".join(dict.fromkeys(_script_class(c) for c in surface))


def _script_class(char: str) -> str:
    for low, high, kind in (("぀", "ゟ", "ひ"), ("゠", "ヿ", "カ"), ("一", "鿿", "漢")):
        if low <= char <= high:
            return kind
    category = unicodedata.category(char)
    if category[0] in "LN":
        return {"Lu": "A", "Ll": "a", "Nd": "9"}.get(category, "字")
    return category[0]


def _brackets(page: Page) -> tuple[Ids, Ids]:
    """The innermost bracket around each token in its sentence, and its number of tokens."""
    kinds: list[str] = []
    sizes: list[int] = []
    for sentence in page.article.sentences:
        base = len(kinds)
        kinds += ["none"] * len(sentence.tokens)
        sizes += [0] * len(sentence.tokens)
        # Inner brackets come first; outer ones do not overwrite them.
        for first, last in bracket_pairs(sentence.tokens):
            for i in range(base + first, base + last + 1):
                if kinds[i] == "none":
                    kinds[i], sizes[i] = sentence.tokens[first].surface, last - first - 1
    return page.row(named(kinds)), page.bins(sizes, (1, 2, 3, 5, 8, 16))


def _mentions(page: Page) -> tuple[Ids, Ids]:
    """Whether a content word is new in the article, and its count in the article."""
    counts = Counter(t.lemma for t in page.tokens)
    seen: set[str] = set()
    said: list[str] = []
    for token in page.tokens:
        if not is_content(token.pos):
            said.append("function")
            continue
        said.append("again" if token.lemma in seen else "new")
        seen.add(token.lemma)
    return page.row(named(said)), page.bins([counts[t.lemma] for t in page.tokens], _COUNTS)


def _token_positions(page: Page) -> tuple[Ids, Ids]:
    """Per token: number of tokens before and after it in its sentence."""
    lengths = [len(s.tokens) for s in page.article.sentences]
    begin = [i for n in lengths for i in range(n)]
    end = [n - 1 - i for n in lengths for i in range(n)]
    return page.bins(begin, _PLACES), page.bins(end, _PLACES)


def _edges(page: Page) -> tuple[Ids, Ids]:
    """The first word of each sentence, and its last two words."""
    firsts, lasts = [], []
    for sentence in page.article.sentences:
        words = [t.lemma for t in sentence.tokens if t.pos not in ("補助記号", "空白", "記号")]
        firsts.append(words[0] if words else "")
        lasts.append("".join(words[-2:]))
    return named(firsts), named(lasts)


#: Bin edges of the log-odds that a sentence contains emphasis.
_ODDS = (-5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2)
_SHARES_table = (0.1, 0.25, 0.5, 0.75, 0.9, 0.999)


def token_tables(
    page: Page,
    terms: Terms,
    *,
    sentences: NDArray[np.float64] | None = None,
) -> list[Codes]:
    """One table (tokens, columns) per sentence.

    sentences: for each sentence, the probability that it contains emphasis; adds the columns of
    the whole article. Without it there are only those of Murata and Abe.
    """
    columns = murata_columns(page, terms)
    if sentences is not None:
        columns += [*context_columns(page), *_likely(page, sentences)]
    tables = page.cut(columns)
    for table, sentence in zip(tables, page.article.sentences, strict=True):
        still = ~np.array(sentence.counted, bool)
        table[still] = NOTHING
        table[still, 0] = BLOCKED
    return tables


def _likely(page: Page, p: NDArray[np.float64]) -> list[Codes]:
    odds = binned(np.log(p + 1e-6) - np.log1p(1e-6 - p), _ODDS)
    rank = np.searchsorted(np.sort(p), p, side="right") / max(1, len(p))
    own, place = page.spread(odds), page.spread(binned(rank, _SHARES_table))
    pos = page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    return [
        column("likely", own),
        column("likely-pos", own, pos),
        column("likely-lemma", own, lemma),
        column("likely-place", place),
        column("likely-place-pos", place, pos),
        column("likely-before", page.spread(shifted(odds, -1))),
        column("likely-after", page.spread(shifted(odds, 1))),
    ]
