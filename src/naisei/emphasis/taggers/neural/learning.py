"""Training a neural tagger; killed at any moment, it goes on where its folder has it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.encoders.opening import needs_torch, open_encoder
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import calibrated
from naisei.emphasis.taggers.neural.batches import epoch_of
from naisei.emphasis.taggers.neural.checkpoint import Progress, restore, save
from naisei.emphasis.taggers.neural.course import Course, Point
from naisei.emphasis.taggers.neural.inputs import Input
from naisei.emphasis.taggers.neural.learner import Learner, device_of
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.neural.states import States, shared_states
from naisei.emphasis.taggers.neural.tagger import NeuralTagger
from naisei.emphasis.taggers.spans import SpanRule, tuned
from naisei.lang import say

__all__ = ["blank", "train"]

Floats = NDArray[np.float64]
#: Seconds between checkpoints that are not also looked at on the dev part.
_PACE = 120.0


def train(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: NeuralPlan,
    seed: int = 0,
    folder: Path | None = None,
    device: str = "auto",
    report: Callable[[Point], None] = lambda point: None,
) -> NeuralTagger:
    """A tagger that learnt from `articles`. Of its checkpoints, the best on `dev` is kept, the
    last without one; `dev` also calibrates it and tunes its spans.

    folder: where the checkpoint and the curve (`curve.csv`) are kept; a training that was
    broken off goes on from there and ends as it would have. report: is told each checkpoint.

    Raises:
        InputError: nothing is emphasised, something is not installed, no such encoder, or the
            folder holds another training.
    """
    if not any(any(s.labels) for a in articles for s in a.sentences):
        raise InputError(
            say(
                f"{len(articles)} 記事のどこにも強調がありません",
                f"nothing is emphasised in the {len(articles)} articles to learn from",
            ),
            remedy=say("太字を含む文書を与えてください", "give documents that have bold words"),
        )
    tagger = blank(plan, device=device, seed=seed)
    inputs = [each for article in articles for each in tagger.inputs(article)]
    progress = _learn(tagger, inputs, dev, seed, folder, report)
    if progress.weights is not None:
        tagger.learner.load(progress.weights)
    return _finished(tagger, dev)


def blank(plan: NeuralPlan, *, device: str = "auto", seed: int = 0) -> NeuralTagger:
    """A tagger that has learnt nothing yet, the same for the same seed.

    Raises:
        InputError: something is not installed, or there is no such encoder.
    """
    needs_torch("safetensors")
    device = device_of(device)
    states: States | None = None
    if plan.kept_states:
        states = shared_states(plan.encoder, plan.layers, device)
        encoder = states.encoder
    else:
        encoder = open_encoder(plan.encoder, layers=plan.layers)
    learner = Learner(plan, encoder, device=device, seed=seed, states=states)
    return NeuralTagger(plan, learner, encoder.subwords, encoder.longest)


def _learn(
    tagger: NeuralTagger,
    inputs: Sequence[Input],
    dev: Sequence[Article],
    seed: int,
    folder: Path | None,
    report: Callable[[Point], None],
) -> Progress:
    plan, learner = tagger.plan, tagger.learner
    digest = plan.digest(_data(inputs, dev, seed))
    progress = restore(folder, learner, digest=digest) if folder else Progress()
    if not progress.step:
        learner.prepare(inputs)
    course = Course(folder, done=progress.step, report=report)
    losses: list[float] = []
    read, began, saved = 0, monotonic(), monotonic()
    epoch, at = -1, 0
    order: list[list[int]] = []
    skip = progress.step
    while progress.step < plan.steps:
        while at >= len(order):
            epoch, at = epoch + 1, 0
            order = epoch_of(inputs, plan, seed, epoch)
            # A resumed training passes over what it has done.
            gone = min(skip, len(order))
            at, skip = gone, skip - gone
        batch = [inputs[number] for number in order[at]]
        at += 1
        share = plan.share_at(progress.step)
        losses.append(learner.step(batch, share=share, seed=seed * 1_000_003 + progress.step))
        read += sum(each.size for each in batch)
        progress.step += 1
        ends = progress.step % plan.every == 0 or progress.step == plan.steps
        if ends:
            rate = read / max(1e-9, monotonic() - began)
            point = _look(tagger, dev, progress, float(np.mean(losses)), rate)
            course.add(point)
            losses, read, began = [], 0, monotonic()
        if folder and (ends or monotonic() - saved > _PACE):
            save(folder, learner, progress, digest=digest)
            course.write()
            saved = monotonic()
    return progress


def _look(
    tagger: NeuralTagger, dev: Sequence[Article], progress: Progress, loss: float, rate: float
) -> Point:
    """Keep the weights if they are the best on the dev part."""
    total, surprise, n = Counts(), 0.0, 0
    raw: list[Floats] = []
    for article in dev:
        p, y = tagger.read(article)
        raw += p
        total += token_counts(article, y)
    gold = [s.labels for a in dev for s in a.sentences]
    counted = np.array([can for a in dev for s in a.sentences for can in s.counted], bool)
    if counted.any():
        said = np.clip(np.concatenate(raw)[counted], 1e-6, 1 - 1e-6)
        true = np.array([y for row in gold for y in row], bool)[counted]
        surprise = float(-np.log(np.where(true, said, 1 - said)).mean())
        n = int(true.sum())
    f1 = total.f1
    if tagger.plan.decoding == "spans" and n:
        rule = tuned(raw, gold)
        f1 = sum((token_counts(a, rows) for a, rows in _chosen(dev, raw, rule)), Counts()).f1
    point = Point(progress.step, loss, surprise if counted.any() else float("nan"), f1, rate)
    value = (f1 if f1 == f1 else 0.0, -surprise)
    if not counted.any() or value > progress.best:
        progress.best, progress.best_step = value, progress.step
        progress.weights = {k: v.clone() for k, v in tagger.learner.weights().items()}
    return point


def _finished(tagger: NeuralTagger, dev: Sequence[Article]) -> NeuralTagger:
    """With calibration and spans of the dev part."""
    sentences = [s for article in dev for s in article.sentences]
    counted = np.array([can for s in sentences for can in s.counted], bool)
    gold = np.array([y for s in sentences for y in s.labels], bool)
    if not gold.any():
        return tagger
    raw = [p for article in dev for p in tagger.probabilities(article)]
    found = calibrated(np.concatenate(raw)[counted], gold[counted])
    own = [np.where(s.counted, found.apply(p), 0.0) for p, s in zip(raw, sentences, strict=True)]
    return replace(tagger, calibration=found, rule=tuned(own, [s.labels for s in sentences]))


def _chosen(
    dev: Sequence[Article], raw: Sequence[Floats], rule: SpanRule
) -> Iterator[tuple[Article, list[list[bool]]]]:
    at = 0
    for article in dev:
        own = raw[at : at + len(article.sentences)]
        at += len(article.sentences)
        yield article, [rule.choose(p) for p in own]


def _data(inputs: Sequence[Input], dev: Sequence[Article], seed: int) -> str:
    own = hashlib.sha256(str(seed).encode())
    for each in inputs:
        own.update(repr((each.pieces, each.labels, each.counted)).encode())
    for article in dev:
        own.update(repr([(s.text, s.labels) for s in article.sentences]).encode())
    return own.hexdigest()
