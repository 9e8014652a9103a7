"""Refit the weights of `bayes`: python tools/calibrate_bayes.py [--data NAME] [--out DIR].

With `--data ambigact40-open-en` those for English scenes.

1. Text weights: every description of the knowledge table is understood without itself
   (leave one out), as if somebody had answered with it. Multinomial logistic regression.
2. Scene weights: the same on the training split, L2 strength by cross-validation over
   scenes. The target is half on the hidden intent, half spread over the plausible actions.
   A text feature that the split never shows takes its text weight.
3. Temperature: by the likelihood of the dev split's hidden intents, whose expected
   calibration error (ECE) is printed.

Nothing of any user simulator is used.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.features import (
    SCENE_FEATURES,
    TEXT_FEATURES,
    BayesWeights,
    Features,
    scene_texts,
    softmax,
)
from naisei.clarify.agents.knowledge import Knowledge, knowledge_for
from naisei.clarify.data import load
from naisei.clarify.describe import scene_text
from naisei.clarify.schemas import Instance
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.training_documents import write_digests

Array = npt.NDArray[np.float64]

#: Answers are shorter and vaguer than descriptions: what they say is trusted this much.
TRUST_IN_ANSWERS = 0.8
STRENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
FOLDS = 10


def fit(features: Array, target: Array, strength: float) -> Array:
    """Conditional logit by Newton's method with step halving; features scaled inside.

    features: (n, actions, d). target: (n, actions), rows sum to 1. Returns (d,).
    """
    scale = features.reshape(-1, features.shape[2]).std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    z = features / scale
    w = np.zeros(z.shape[2])

    def objective(w: Array) -> float:
        scores = z @ w
        top = scores.max(axis=1)
        norm = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        return float((target * scores).sum() - norm.sum() - 0.5 * strength * (w @ w))

    now = objective(w)
    for _ in range(100):
        p = softmax(z @ w)
        gradient = np.einsum("na,nad->d", target - p, z) - strength * w
        mean = np.einsum("na,nad->nd", p, z)
        curve = np.einsum("na,nad,nae->de", p, z, z, optimize=True) - mean.T @ mean
        step = np.linalg.solve(curve + strength * np.eye(len(w)), gradient)
        size = 1.0
        while objective(w + size * step) < now and size > 1e-6:
            size /= 2
        w, before = w + size * step, now
        now = objective(w)
        if now - before < 1e-8:
            break
    return w / scale


def targets(instances: Sequence[Instance], ids: tuple[int, ...]) -> Array:
    out = np.zeros((len(instances), len(ids)))
    for row, instance in zip(out, instances, strict=True):
        row[ids.index(instance.gold)] += 0.5
        plausible = instance.plausible or (instance.gold,)
        for action in plausible:
            row[ids.index(action)] += 0.5 / len(plausible)
    return out


def log_loss(scores: Array, gold: Array) -> float:
    return float(-np.log(softmax(scores)[np.arange(len(gold)), gold]).mean())


def cross_validate(x: Array, t: Array, gold: Array, scenes: list[str]) -> tuple[float, Array]:
    """The best strength and its out-of-fold scores; folds hold whole scenes."""
    names = sorted(set(scenes))
    order = np.random.default_rng(0).permutation(len(names))
    fold_of = {names[j]: i % FOLDS for i, j in enumerate(order)}
    folds = np.array([fold_of[s] for s in scenes])
    best: tuple[float, float, Array] | None = None
    for strength in STRENGTHS:
        scores = np.zeros(t.shape)
        for fold in range(FOLDS):
            out = folds == fold
            if out.any():
                scores[out] = x[out] @ fit(x[~out], t[~out], strength)
        loss = log_loss(scores, gold)
        if best is None or loss < best[0]:
            best = (loss, strength, scores)
    assert best is not None
    return best[1], best[2]


def ece(p: Array, gold: Array, bins: int = 10) -> float:
    """Expected calibration error of the likeliest action, equal-width bins."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == gold
    bucket = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        (bucket == b).mean() * abs(right[bucket == b].mean() - sure[bucket == b].mean())
        for b in range(bins)
        if (bucket == b).any()
    ]
    return float(sum(gaps))


def describe(name: str, scores: Array, gold: Array) -> dict[str, float]:
    rank = (scores > scores[np.arange(len(gold)), gold][:, None]).sum(axis=1)
    found = {f"top{k}": round(float((rank < k).mean()), 3) for k in (1, 2, 3, 5)}
    found["log_loss"] = round(log_loss(scores, gold), 3)
    found["ece"] = round(ece(softmax(scores), gold), 3)
    print(f"{name}: {found}")
    return found


def text_weights(features: Features) -> Array:
    rows = len(features.descriptions)
    x = np.stack([features.without(i) for i in range(rows)])
    owners = np.array([owner for owner, _ in features.descriptions])
    t = np.eye(x.shape[1])[owners]
    w = fit(x, t, 4.0)
    describe("descriptions, left out one by one", x @ w, owners)
    return w * TRUST_IN_ANSWERS


def calibrate(
    knowledge: Knowledge, embedder: Embedder, train: Sequence[Instance], dev: Sequence[Instance]
) -> tuple[BayesWeights, dict[str, dict[str, float]]]:
    features = Features(knowledge, embedder)
    ids = tuple(item.id for item in knowledge.items)

    def matrix(instances: Sequence[Instance]) -> Array:
        return np.stack(
            [features.scene(i.scene, embedder.embed(list(scene_texts(i.scene)))) for i in instances]
        )

    def golds(instances: Sequence[Instance]) -> Array:
        return np.array([ids.index(i.gold) for i in instances])

    x, t, gold = matrix(train), targets(train, ids), golds(train)
    scenes = [i.scene_id or i.scene.id for i in train]
    strength, held_out = cross_validate(x, t, gold, scenes)
    figures = {"train, cross-validated": describe("train, cross-validated", held_out, gold)}
    w = fit(x, t, strength)
    dev_scores, dev_gold = matrix(dev) @ w, golds(dev)
    figures["dev, before temperature"] = describe("dev, before temperature", dev_scores, dev_gold)
    grid = np.geomspace(0.5, 3.0, 61)
    temperature = float(grid[np.argmin([log_loss(dev_scores / g, dev_gold) for g in grid])])
    figures["dev"] = describe("dev", dev_scores / temperature, dev_gold)
    print(f"strength {strength}, temperature {temperature:.3f}")
    text = text_weights(features)
    # In the data nobody names the thing; with users who do, it counts as in an answer.
    for j, name in enumerate(SCENE_FEATURES):
        if name in TEXT_FEATURES and not x[:, :, j].any():
            w[j] = text[TEXT_FEATURES.index(name)]
    return (
        BayesWeights(
            scene={n: round(float(v), 4) for n, v in zip(SCENE_FEATURES, w, strict=True) if v},
            text={n: round(float(v), 4) for n, v in zip(TEXT_FEATURES, text, strict=True) if v},
            temperature=round(temperature, 3),
        ),
        figures,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="ambigact40-open", help="name or folder with splits")
    parser.add_argument("--out", type=Path, default=Path("src/naisei/clarify/agents/weights"))
    options = parser.parse_args()
    embedder = open_embedder()
    train, dev = (load(options.data, split=split) for split in ("train", "dev"))
    actions = train.actions
    options.out.mkdir(parents=True, exist_ok=True)
    knowledge = knowledge_for(actions)
    weights, figures = calibrate(knowledge, embedder, train.instances, dev.instances)
    text = json.dumps(weights.model_dump(), indent=1, ensure_ascii=False)
    english = train.instances[0].scene.language == "en"
    name = f"bayes_{knowledge.table}{'.en' if english else ''}.json"
    (options.out / name).write_text(text + "\n", encoding="utf-8")
    fitted = [scene_text(i.scene) for part in (train, dev) for i in part.instances]
    write_digests((options.out / name).with_suffix(".documents.txt"), fitted)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
