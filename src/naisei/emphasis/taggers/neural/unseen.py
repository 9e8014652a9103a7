"""What a neural tagger says of articles that it did not learn from: for a model on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.neural.learning import train
from naisei.emphasis.taggers.neural.plan import NeuralPlan

__all__ = ["unseen"]

Floats = NDArray[np.float64]


def unseen(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: NeuralPlan,
    parts: int = 2,
    seed: int = 0,
    folder: Path | None = None,
    device: str = "auto",
) -> list[list[Floats]]:
    """Probabilities per article, sentence and token, by `parts` taggers each of which learnt
    from the articles of the other parts (stacked generalisation, Wolpert 1992).

    With what a tagger says of articles that it learnt from, a model on top of it would learn to
    trust it more than it deserves. Where nothing is emphasised in the other parts, 0 is said.
    folder: where the trainings are kept, so that they go on when broken off.

    Raises:
        InputError: something is not installed, or no such encoder.
    """
    out: list[list[Floats]] = [
        [np.zeros(len(s.tokens)) for s in article.sentences] for article in articles
    ]
    for part in range(parts):
        others = [a for i, a in enumerate(articles) if i % parts != part]
        if not any(any(s.labels) for a in others for s in a.sentences):
            continue
        own = None if folder is None else folder / f"part{part}"
        tagger = train(others, dev, plan=plan, seed=seed, folder=own, device=device)
        for i, article in enumerate(articles):
            if i % parts == part:
                out[i] = tagger.probabilities(article)
    return out
