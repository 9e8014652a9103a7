"""A trained neural tagger."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.encoders.subwords import Subwords
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration
from naisei.emphasis.taggers.neural.inputs import Input, inputs_of
from naisei.emphasis.taggers.neural.learner import Learner, spread
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.spans import SpanRule

__all__ = ["NeuralTagger"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """What `naisei.emphasis.taggers.neural.learning.train` makes.

    longest: subwords that the encoder takes. calibration, rule: fitted on the dev part. For
    the empty-title experiment (thesis, §4.6.2) give it articles whose title is "".
    """

    plan: NeuralPlan
    learner: Learner
    subwords: Subwords
    longest: int
    calibration: Calibration = field(default_factory=Calibration)
    rule: SpanRule = field(default_factory=SpanRule)

    @property
    def name(self) -> str:
        return self.plan.name

    def probabilities(self, article: Article) -> list[Floats]:
        return self.read(article)[0]

    def labels(self, article: Article) -> list[list[bool]]:
        return self.read(article)[1]

    def read(self, article: Article) -> tuple[list[Floats], list[list[bool]]]:
        """Probabilities and labels, for the work of one."""
        inputs = self.inputs(article)
        raw, best = self.learner.read(inputs)
        sizes = [len(s.tokens) for s in article.sentences]
        counted = [np.array(s.counted, bool) for s in article.sentences]
        own = [
            np.where(can, self.calibration.apply(p), 0.0)
            for p, can in zip(spread(raw, inputs, sizes), counted, strict=True)
        ]
        if self.plan.decoding == "spans":
            rows = [np.array(self.rule.choose(p), bool) for p in own]
        else:
            rows = [row > 0 for row in spread(best, inputs, sizes)]
        return own, [(row & can).tolist() for row, can in zip(rows, counted, strict=True)]

    def inputs(self, article: Article) -> list[Input]:
        """What the network is given of an article."""
        return inputs_of(
            article,
            self.subwords,
            title=self.plan.title,
            passage=self.plan.unit == "passage",
            limit=min(self.plan.limit, self.longest),
        )

    def decoding(self, decoding: str) -> NeuralTagger:
        """The same network with the other decoding."""
        return replace(self, plan=self.plan.model_copy(update={"decoding": decoding}))
