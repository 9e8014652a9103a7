"""The CRF tagger: features of Murata and Abe, and with `context` those of the whole article."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.crf.sparse import SparseCrf
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration
from naisei.emphasis.taggers.features.codes import Codes
from naisei.emphasis.taggers.features.page import Page
from naisei.emphasis.taggers.features.sentence import sentence_columns
from naisei.emphasis.taggers.features.table import token_tables
from naisei.emphasis.taggers.features.terms import Terms
from naisei.emphasis.taggers.plan import CrfPlan
from naisei.emphasis.taggers.spans import SpanRule

__all__ = ["CrfTagger"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CrfTagger:
    """What `naisei.emphasis.taggers.learning.train` makes.

    tokens: the CRF over the words of a sentence. sentences: the one over the sentences of an
    article; `None` without context. calibration, rule: fitted on the dev part.
    """

    plan: CrfPlan
    terms: Terms
    tokens: SparseCrf
    sentences: SparseCrf | None = None
    calibration: Calibration = field(default_factory=Calibration)
    rule: SpanRule = field(default_factory=SpanRule)

    @property
    def name(self) -> str:
        return self.plan.name

    def probabilities(self, article: Article) -> list[Floats]:
        raw = self.tokens.marginals(self._tables(article))
        return [
            np.where(s.counted, self.calibration.apply(p), 0.0)
            for p, s in zip(raw, article.sentences, strict=True)
        ]

    def labels(self, article: Article) -> list[list[bool]]:
        if self.plan.decoding == "viterbi":
            return self.tokens.best(self._tables(article))
        return [
            [bool(y and can) for y, can in zip(self.rule.choose(p), s.counted, strict=True)]
            for p, s in zip(self.probabilities(article), article.sentences, strict=True)
        ]

    def _tables(self, article: Article) -> list[Codes]:
        page = Page.of(article)
        likely: Floats | None = None
        if self.sentences is not None:
            likely = self.sentences.marginals([sentence_columns(page, self.terms)])[0]
        return token_tables(page, self.terms, sentences=likely)
