"""The context CRF that is told what a neural tagger says: stacked generalisation (Wolpert 1992).

The neural tagger reads meaning, the CRF what the whole article tells; each word's label is the
CRF's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from naisei.emphasis.schemas import Article, Tagger
from naisei.emphasis.taggers import store as crf_store
from naisei.emphasis.taggers.crf import CrfTagger
from naisei.emphasis.taggers.learning import train as train_crf
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.plan import CONTEXT, CrfPlan

__all__ = ["NEURAL", "StackPlan", "StackedTagger", "load", "save", "train"]

Floats = NDArray[np.float64]
_CRF, _NEURAL = "crf.npz", "neural"

#: A head on the first four layers of the encoder, which stay as they are: a training of seconds.
NEURAL = NeuralPlan(
    title=True, unit="passage", tuned="head", layers=4, limit=192, hidden=128, dropout=0.3,
    steps=800, every=800, batch=4, plain=0.3, decoding="spans",
)  # fmt: skip


class StackPlan(BaseModel):
    """parts: into which the articles are split so that the neural tagger says of each what it
    has not seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    crf: CrfPlan = CONTEXT
    neural: NeuralPlan = NEURAL
    parts: int = Field(default=2, ge=2)

    @property
    def name(self) -> str:
        return f"stack-{self.crf.decoding}.v1"


@dataclass(frozen=True, slots=True)
class StackedTagger:
    """crf: learnt with what the other tagger said of articles that it had not seen."""

    name: str
    crf: CrfTagger
    neural: Tagger

    def probabilities(self, article: Article) -> list[Floats]:
        return self.crf.probabilities(article, self.neural.probabilities(article))

    def labels(self, article: Article) -> list[list[bool]]:
        return self.crf.labels(article, self.neural.probabilities(article))


def train(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: StackPlan,
    seed: int = 0,
    folder: Path | None = None,
    device: str = "auto",
) -> StackedTagger:
    """Needs the extra `train`. The neural taggers learn from `dev`, too, and keep their last
    checkpoint, so that what they say of it is no better than what they say of others.

    Raises:
        InputError: nothing is emphasised, something is not installed, or no such encoder.
    """
    from naisei.emphasis.taggers.neural.learning import train as train_neural
    from naisei.emphasis.taggers.neural.unseen import unseen

    whole = [*articles, *dev]
    told = unseen(
        whole, plan=plan.neural, parts=plan.parts, seed=seed, folder=folder, device=device
    )
    crf = train_crf(articles, dev, plan=plan.crf, told=told)
    own = None if folder is None else folder / "whole"
    neural = train_neural(whole, plan=plan.neural, seed=seed, folder=own, device=device)
    return StackedTagger(plan.name, crf, neural)


def save(tagger: StackedTagger, folder: Path) -> None:
    """Writes the CRF last, so that a folder with one is whole."""
    from naisei.emphasis.taggers.neural import store
    from naisei.emphasis.taggers.neural.tagger import NeuralTagger

    assert isinstance(tagger.neural, NeuralTagger)
    store.save(tagger.neural, folder / _NEURAL)
    crf_store.save(tagger.crf, folder / _CRF)


def load(folder: Path, *, device: str = "cpu") -> StackedTagger:
    """Raises:
    InputError: the folder holds no such tagger.
    """
    from naisei.emphasis.taggers.neural import store

    crf = crf_store.load(folder / _CRF)
    neural = store.load(folder / _NEURAL, device=device)
    return StackedTagger(StackPlan(crf=crf.plan).name, crf, neural)
