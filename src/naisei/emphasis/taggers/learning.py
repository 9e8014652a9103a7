"""Training a CRF tagger on articles with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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

__all__ = ["train"]

Floats = NDArray[np.float64]


def train(articles: Sequence[Article], dev: Sequence[Article] = (), *, plan: CrfPlan) -> CrfTagger:
    """A tagger that learnt from `articles`; `dev` calibrates it and tunes its spans.

    Nothing is random. Without `dev`, or with one that emphasises nothing, probabilities stay
    as they come and a token is chosen from 0.5 on.

    Raises:
        InputError: no article emphasises anything.
    """
    if not any(any(s.labels) for a in articles for s in a.sentences):
        raise InputError(
            f"nothing is emphasised in the {len(articles)} articles to learn from",
            remedy="give documents that have bold words",
        )
    terms = Terms.of(articles)
    pages = [Page.of(article) for article in articles]
    sentences: SparseCrf | None = None
    likely: list[Floats | None] = [None] * len(pages)
    if plan.context:
        tables = [sentence_columns(page, terms) for page in pages]
        gold = [[any(s.labels) for s in a.sentences] for a in articles]
        sentences = _fit_sentences(tables, gold, plan)
        likely = [*_unseen(tables, gold, plan)]
    rows = [token_tables(page, terms, sentences=p) for page, p in zip(pages, likely, strict=True)]
    tokens = fit(
        [table for own in rows for table in own],
        [s.labels for a in articles for s in a.sentences],
        l2=plan.l2,
        min_count=plan.min_count,
        steps=plan.steps,
    )
    return _finished(CrfTagger(plan, terms, tokens, sentences), dev)


def _fit_sentences(
    tables: Sequence[Codes], gold: Sequence[Sequence[bool]], plan: CrfPlan
) -> SparseCrf:
    return fit(tables, gold, l2=plan.sentence_l2, min_count=plan.min_count, steps=plan.steps)


def _unseen(tables: Sequence[Codes], gold: Sequence[Sequence[bool]], plan: CrfPlan) -> list[Floats]:
    """What is said of each article's sentences by a CRF that did not see the article.

    With what it had seen it would be surer than it ever is of a new article, and the CRF over
    the words would learn to trust it too much.
    """
    out: list[Floats] = [np.zeros(0)] * len(tables)
    parts = min(plan.folds, len(tables))
    for part in range(parts):
        held = [i for i in range(len(tables)) if i % parts == part]
        others = [i for i in range(len(tables)) if i % parts != part]
        if others:
            model = _fit_sentences([tables[i] for i in others], [gold[i] for i in others], plan)
            said = model.marginals([tables[i] for i in held])
        else:
            # A lone article: nothing is known of its sentences.
            said = [np.full(len(tables[i]), 0.5) for i in held]
        for i, p in zip(held, said, strict=True):
            out[i] = p
    return out


def _finished(tagger: CrfTagger, dev: Sequence[Article]) -> CrfTagger:
    """With calibration and spans of the dev part."""
    raw = [p for article in dev for p in tagger.probabilities(article)]
    sentences = [s for article in dev for s in article.sentences]
    counted = np.array([can for s in sentences for can in s.counted], bool)
    gold = np.array([y for s in sentences for y in s.labels], bool)
    if not gold.any():
        return tagger
    tagger = replace(tagger, calibration=calibrated(np.concatenate(raw)[counted], gold[counted]))
    own = [p for article in dev for p in tagger.probabilities(article)]
    return replace(tagger, rule=tuned(own, [s.labels for s in sentences]))
