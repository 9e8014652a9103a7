"""Who trains and tags in an evaluation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.core import Act, Handler, Observation, Where
from naisei.emphasis.corpus.statistics import Fold
from naisei.emphasis.evaluation.recipes import Recipe
from naisei.emphasis.evaluation.results import Marked, PartResult, marked
from naisei.emphasis.schemas import Article, Tagger

__all__ = ["Bench", "measured"]

_BINS = 10


class Bench(Handler):
    """Trains on a fold's training part and tags its test part.

    scored: ids of the documents that are scored; others of the test part are not tagged.
    folder: where a training that is broken off keeps what it has learnt so far.
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        recipe: Recipe,
        *,
        scored: frozenset[str],
        empty_title: bool = False,
        folder: Path | None = None,
    ) -> None:
        self._folds = folds
        self._recipe = recipe
        self._scored = scored
        self._empty_title = empty_title
        self._folder = folder

    async def perform(self, effect: Act, where: Where) -> Observation:
        action = effect.action
        assert isinstance(action, dict)
        part, seed = action["tag"], action["seed"]
        assert isinstance(part, int) and isinstance(seed, int)
        # In a thread, so that the loop still hears signals while a model is trained.
        found = await asyncio.to_thread(self._tag, part, seed)
        return Observation(info=found.model_dump(mode="json"), done=True)

    def _tag(self, part: int, seed: int) -> PartResult:
        fold = self._folds[part]
        folder = self._folder / f"part-{part + 1}-{seed}" if self._folder else None
        began = time.perf_counter()
        tagger = self._recipe.make(fold.train, fold.dev, seed=seed, folder=folder)
        trained = time.perf_counter() - began
        test = [a for a in fold.test if a.id in self._scored]
        found = measured(tagger, test, empty_title=self._empty_title)
        if folder and folder.is_dir():
            _leave_curve(folder)
        return found.model_copy(update={"trained": round(trained, 3)})


def _leave_curve(folder: Path) -> None:
    """Weights of every part would fill the disk; the curves are kept."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".csv":
            path.unlink()


def measured(tagger: Tagger, articles: Sequence[Article], *, empty_title: bool) -> PartResult:
    """What a tagger marks in articles that it has not seen."""
    began = time.perf_counter()
    labels = [tagger.labels(a) for a in articles]
    tagged = time.perf_counter() - began
    untitled = [
        marked(tagger.labels(replace(a, title=""))) if empty_title else None for a in articles
    ]
    return PartResult(
        documents=tuple(
            Marked(article=a.id, spans=marked(rows), untitled=bare)
            for a, rows, bare in zip(articles, labels, untitled, strict=True)
        ),
        bins=_bins(tagger, articles),
        tokens=sum(len(s.tokens) for a in articles for s in a.sentences),
        tagged=round(tagged, 3),
    )


def _bins(tagger: Tagger, articles: Sequence[Article]) -> tuple[tuple[int, float, int], ...]:
    n = np.zeros((3, _BINS))
    for article in articles:
        for p, sentence in zip(tagger.probabilities(article), article.sentences, strict=True):
            can = np.array(sentence.counted, bool)
            gold = np.array(sentence.labels, np.float64)[can]
            own: NDArray[np.float64] = p[can]
            which = np.minimum((own * _BINS).astype(np.int64), _BINS - 1)
            for row, weights in zip(n, (np.ones_like(own), own, gold), strict=True):
                row += np.bincount(which, weights=weights, minlength=_BINS)
    return tuple((int(a), round(float(b), 6), int(c)) for a, b, c in n.T)
