"""Training a CRF tagger on articles with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.crf.sparse import SparseCrf, fit
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import calibrated
from naisei.emphasis.taggers.crf import CrfTagger
from naisei.emphasis.taggers.features.codes import Codes
from naisei.emphasis.taggers.features.page import Page
from naisei.emphasis.taggers.features.sentence import sentence_columns
from naisei.emphasis.taggers.features.table import token_tables
from naisei.emphasis.taggers.features.terms import Terms
from naisei.emphasis.taggers.plan import CrfPlan
from naisei.emphasis.taggers.spans import tuned
from naisei.lang import say

__all__ = ["train", "train_and_ask"]

Floats = NDArray[np.float64]
#: So many sentences without emphasis for each with some are always learnt from.
_PLAIN = 4.0


def train(articles: Sequence[Article], dev: Sequence[Article] = (), *, plan: CrfPlan) -> CrfTagger:
    """A tagger that learnt from `articles`; `dev` calibrates it and tunes its spans.

    Nothing is random. Where there is nothing to tune on (no dev part, one that emphasises
    nothing, a lone article), probabilities stay as they come and a token is chosen from 0.5 on.

    Raises:
        InputError: no article emphasises anything.
    """
    return train_and_ask(articles, dev, plan=plan)[0]


def train_and_ask(
    articles: Sequence[Article], dev: Sequence[Article] = (), *, plan: CrfPlan
) -> tuple[CrfTagger, list[Floats]]:
    """As `train`; and what is said, before calibration, of each sentence that the tagger was
    tuned on by a CRF that had not seen its article: of the dev part, or of `articles` and then
    `dev` if the plan tunes on folds.
    """
    if not any(any(s.labels) for a in articles for s in a.sentences):
        raise InputError(
            say(
                f"学習に使う {len(articles)} 記事に、強調された語が一つもありません",
                f"nothing is emphasised in the {len(articles)} articles to learn from",
            ),
            remedy=say("太字を含む文書を渡してください", "give documents that have bold words"),
        )
    if plan.tuning == "folds":
        articles, dev = [*articles, *dev], ()
    terms = Terms.of(articles)
    pages = [Page.of(article) for article in articles]
    sentences: SparseCrf | None = None
    likely: list[Floats | None] = [None] * len(pages)
    if plan.context:
        tables = [sentence_columns(page, terms) for page in pages]
        gold = [[any(s.labels) for s in a.sentences] for a in articles]
        sentences = _fit_sentences(tables, gold, plan)
        likely = [*_unseen(tables, gold, _parts(articles, plan.folds), plan)]
    rows = [token_tables(page, terms, sentences=p) for page, p in zip(pages, likely, strict=True)]
    tagger = CrfTagger(plan, terms, _fit_tokens(articles, rows, plan), sentences)
    if plan.tuning == "dev":
        said = [p for a in dev for p in tagger.probabilities(a)]
        return _finished(tagger, dev, said), said
    said = _held_out(articles, rows, plan)
    return _finished(tagger, articles, said), said


def _fit_tokens(
    articles: Sequence[Article], rows: Sequence[Sequence[Codes]], plan: CrfPlan
) -> SparseCrf:
    bold = sum(any(s.labels) for a in articles for s in a.sentences)
    rest = sum(len(a.sentences) for a in articles) - bold
    share = max(plan.plain, min(1.0, _PLAIN * bold / max(1, rest)))
    chosen = [
        (table, s.labels)
        for article, own in zip(articles, rows, strict=True)
        for s, table in zip(article.sentences, own, strict=True)
        if any(s.labels) or crc32(f"{article.id} {s.index}".encode()) < share * 2**32
    ]
    return fit(
        [table for table, _ in chosen],
        [labels for _, labels in chosen],
        l2=plan.l2,
        min_count=plan.min_count,
        steps=plan.steps,
    )


def _held_out(
    articles: Sequence[Article], rows: Sequence[Sequence[Codes]], plan: CrfPlan
) -> list[Floats]:
    """What is said of each article's words by a CRF that did not see the article."""
    out: dict[int, list[Floats]] = {}
    parts = _parts(articles, plan.parts)
    for part in sorted(set(parts)):
        seen = [i for i, own in enumerate(parts) if own != part]
        held = [i for i, own in enumerate(parts) if own == part]
        if not any(any(s.labels) for i in seen for s in articles[i].sentences):
            continue
        model = _fit_tokens([articles[i] for i in seen], [rows[i] for i in seen], plan)
        out |= {i: model.marginals(rows[i]) for i in held}
    # Where nothing can be learnt without the article, nothing is known of it.
    return [p for i, own in enumerate(rows) for p in out.get(i, [np.zeros(len(t)) for t in own])]


def _fit_sentences(
    tables: Sequence[Codes], gold: Sequence[Sequence[bool]], plan: CrfPlan
) -> SparseCrf:
    return fit(tables, gold, l2=plan.sentence_l2, min_count=plan.min_count, steps=plan.steps)


def _parts(articles: Sequence[Article], most: int) -> list[int]:
    """A part for each article, at most so many; pieces of one document (`book#1`, `book#2`) are
    in one part."""
    stems = [article.id.partition("#")[0] for article in articles]
    number = {stem: i for i, stem in enumerate(dict.fromkeys(stems))}
    return [number[stem] % min(most, len(number)) for stem in stems]


def _unseen(
    tables: Sequence[Codes], gold: Sequence[Sequence[bool]], parts: Sequence[int], plan: CrfPlan
) -> list[Floats]:
    """What is said of each article's sentences by a CRF that did not see the article.

    With what it had seen it would be surer than it ever is of a new article, and the CRF over
    the words would learn to trust it too much.
    """
    out: list[Floats] = [np.zeros(0)] * len(tables)
    for part in sorted(set(parts)):
        held = [i for i, own in enumerate(parts) if own == part]
        others = [i for i, own in enumerate(parts) if own != part]
        if others:
            model = _fit_sentences([tables[i] for i in others], [gold[i] for i in others], plan)
            said = model.marginals([tables[i] for i in held])
        else:
            # A lone article: nothing is known of its sentences.
            said = [np.full(len(tables[i]), 0.5) for i in held]
        for i, p in zip(held, said, strict=True):
            out[i] = p
    return out


def _finished(tagger: CrfTagger, articles: Sequence[Article], raw: Sequence[Floats]) -> CrfTagger:
    """Calibrated and tuned on probabilities of articles that were not learnt from."""
    sentences = [s for article in articles for s in article.sentences]
    counted = np.array([can for s in sentences for can in s.counted], bool)
    gold = np.array([y for s in sentences for y in s.labels], bool)
    if not gold.any() or not any(p.any() for p in raw):
        return tagger
    found = calibrated(np.concatenate(raw)[counted], gold[counted])
    own = [np.where(s.counted, found.apply(p), 0.0) for p, s in zip(raw, sentences, strict=True)]
    return replace(tagger, calibration=found, rule=tuned(own, [s.labels for s in sentences]))
