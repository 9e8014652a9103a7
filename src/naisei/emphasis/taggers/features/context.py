"""What the whole article tells about a token: place, first mention, brackets, neighbours."""

from __future__ import annotations

import unicodedata
from collections import Counter

from naisei.emphasis.taggers.features.codes import Codes, Ids, column, named, shifted
from naisei.emphasis.taggers.features.layout import layout_columns
from naisei.emphasis.taggers.features.page import Page
from naisei.emphasis.taggers.features.terms import is_content

__all__ = ["context_columns"]

_COUNTS = (2, 3, 5, 8, 16)
_PLACES = (1, 2, 3, 5, 8, 13, 21, 34)


def context_columns(page: Page) -> list[Codes]:
    """Columns along the page's row, beside those of Murata and Abe."""
    pos, lemma = page.words(lambda t: t.pos), page.words(lambda t: t.lemma)
    script = page.words(lambda t: _script(t.surface))
    length = page.bins([len(t.surface) for t in page.tokens], (2, 3, 4, 6, 9))
    bracket, held = _brackets(page)
    mention, times = _mentions(page)
    begin, end = _places(page)
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
    ]


def _script(surface: str) -> str:
    """The kinds of writing in a word, in order, each once: 漢, ひ, カ, A, 9 or a mark."""
    return "".join(dict.fromkeys(_kind(c) for c in surface))


def _kind(char: str) -> str:
    for low, high, kind in (("぀", "ゟ", "ひ"), ("゠", "ヿ", "カ"), ("一", "鿿", "漢")):
        if low <= char <= high:
            return kind
    category = unicodedata.category(char)
    if category[0] in "LN":
        return {"Lu": "A", "Ll": "a", "Nd": "9"}.get(category, "字")
    return category[0]


def _brackets(page: Page) -> tuple[Ids, Ids]:
    """The innermost bracket about each token of its sentence, and how many tokens it holds."""
    kinds = ["none"] * len(page.tokens)
    sizes = [0.0] * len(page.tokens)
    open_at: list[int] = []
    before = -1
    for i, (token, number) in enumerate(zip(page.tokens, page.sentence_of, strict=True)):
        if number != before:
            open_at, before = [], number
        category = unicodedata.category(token.surface[0]) if len(token.surface) == 1 else ""
        if category in ("Ps", "Pi"):
            open_at.append(i)
        elif category in ("Pe", "Pf") and open_at:
            start = open_at.pop()
            for j in range(start, i + 1):
                # Inner brackets were closed before: they keep theirs.
                if kinds[j] == "none":
                    kinds[j] = page.tokens[start].surface
                    sizes[j] = i - start - 1
    return page.row(named(kinds)), page.bins(sizes, (1, 2, 3, 5, 8, 16))


def _mentions(page: Page) -> tuple[Ids, Ids]:
    """Whether a content word is new in the article, and how often the article has it."""
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


def _places(page: Page) -> tuple[Ids, Ids]:
    """How many tokens of the sentence come before each, and how many after."""
    lengths = [len(s.tokens) for s in page.article.sentences]
    begin = [i for n in lengths for i in range(n)]
    end = [n - 1 - i for n in lengths for i in range(n)]
    return page.bins(begin, _PLACES), page.bins(end, _PLACES)


def _edges(page: Page) -> tuple[Ids, Ids]:
    """How each sentence begins, and its last two words that are no marks."""
    firsts, lasts = [], []
    for sentence in page.article.sentences:
        words = [t.lemma for t in sentence.tokens if t.pos not in ("補助記号", "空白", "記号")]
        firsts.append(words[0] if words else "")
        lasts.append("".join(words[-2:]))
    return named(firsts), named(lasts)
