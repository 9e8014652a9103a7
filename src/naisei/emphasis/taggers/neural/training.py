"""Training a neural tagger: its loop, learning curve and checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from math import isnan
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.metrics import Counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import fitted, tuned
from naisei.emphasis.taggers.neural.encoder import needs_torch, open_encoder
from naisei.emphasis.taggers.neural.inputs import Input, epoch_of
from naisei.emphasis.taggers.neural.tagger import Learner, NeuralTagger, device_of
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.files import write_atomically
from naisei.lang import say
from naisei.runs.charts import drawing
from naisei.runs.curve import Curve

_NAME = "checkpoint.pt"


@dataclass(slots=True)
class Progress:
    """step: steps done. best: (token F1, minus loss) on the dev part, the higher the better.
    best_step: 0 before the first checkpoint. weights: of the network then."""

    step: int = 0
    best: tuple[float, float] = (float("-inf"), float("-inf"))
    best_step: int = 0
    weights: dict[str, Any] | None = None


def save(folder: Path, learner: Learner, progress: Progress, *, digest: str) -> None:
    """digest: of the plan and its data (`NeuralPlan.digest`)."""
    import torch

    state = {
        "digest": digest,
        "step": progress.step,
        "best": progress.best,
        "best_step": progress.best_step,
        "weights": progress.weights,
        "network": learner.weights(),
        "optimiser": learner.optimiser.state_dict(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / f"{_NAME}.tmp"
    torch.save(state, scratch)
    scratch.replace(folder / _NAME)


def restore(folder: Path, learner: Learner, *, digest: str) -> Progress:
    """The progress of the checkpoint in a folder, loaded into the learner; none if there is none.

    Raises:
        InputError: it belongs to another training, or cannot be read.
    """
    import torch

    path = folder / _NAME
    if not path.is_file():
        return Progress()
    try:
        state = torch.load(path, map_location=learner.device, weights_only=True)
    except Exception as error:  # unpickling raises what it likes
        raise InputError(
            say(f"途中経過を読めません: {error}", f"the checkpoint cannot be read: {error}"),
            place=str(path),
            remedy=say("削除してやり直してください", "delete it and train again"),
        ) from error
    if state["digest"] != digest:
        raise InputError(
            say(
                "このフォルダーには、設定・コーパス・コードのどれかが違う学習の途中経過があります",
                "the folder holds a training with other settings, another corpus or other code",
            ),
            place=str(folder),
            remedy=say("別のフォルダーを選ぶか、これを削除してください", "choose another folder"),
        )
    learner.load(state["network"])
    learner.optimiser.load_state_dict(state["optimiser"])
    best = (float(state["best"][0]), float(state["best"][1]))
    return Progress(state["step"], best, state["best_step"], state["weights"])


@dataclass(frozen=True, slots=True)
class Point:
    """loss: mean since the point before. dev_loss, dev_f1: mean surprise of a word, and pooled
    token F1, on the dev part; NaN without one. speed: subwords learnt from per second."""

    step: int
    loss: float
    dev_loss: float
    dev_f1: float
    speed: float


class TrainingCurve:
    """The points of one training, kept in a folder if there is one."""

    def __init__(self, folder: Path | None, *, done: int, report: Callable[[Point], None]) -> None:
        """done: steps of a training that goes on; points after them are forgotten."""
        self._folder, self._report = folder, report
        columns = ("step", "loss", "dev_loss", "dev_f1", "subwords_per_second")
        self._curve = Curve((folder or Path()) / "curve.csv", columns)
        if folder:
            self._curve.resume(done)

    def add(self, point: Point) -> None:
        self._curve.add(*astuple(point))
        self._report(point)

    def write(self) -> None:
        """`curve.csv` and `curve.svg`."""
        if self._folder is None:
            return
        self._curve.write()
        names = ("training loss", "dev loss", "dev token F1")
        lines = {
            name: [(row[0], row[i]) for row in self._curve.rows if not isnan(row[i])]
            for i, name in enumerate(names, 1)
        }
        picture = drawing({n: line for n, line in lines.items() if line}, title="training")
        write_atomically(self._folder / "curve.svg", picture)


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
    tagger = untrained(plan, device=device, seed=seed)
    inputs = [each for article in articles for each in tagger.inputs(article)]
    progress = _learn(tagger, inputs, dev, seed, folder, report)
    if progress.weights is not None:
        tagger.learner.load(progress.weights)
    return _finished(tagger, dev)


def untrained(plan: NeuralPlan, *, device: str = "auto", seed: int = 0) -> NeuralTagger:
    """A tagger that has learnt nothing yet, the same for the same seed.

    Raises:
        InputError: something is not installed, or there is no such encoder.
    """
    needs_torch("safetensors")
    encoder = open_encoder(plan.encoder, layers=plan.layers)
    learner = Learner(plan, encoder, device=device_of(device), seed=seed)
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
    curve = TrainingCurve(folder, done=progress.step, report=report)
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
            curve.add(point)
            losses, read, began = [], 0, monotonic()
        if folder and (ends or monotonic() - saved > _PACE):
            save(folder, learner, progress, digest=digest)
            curve.write()
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
        rule, left = tuned(raw, gold), iter(raw)
        rows = [[rule.choose(next(left)) for _ in article.sentences] for article in dev]
        f1 = sum(map(token_counts, dev, rows), Counts()).f1
    point = Point(progress.step, loss, surprise if counted.any() else float("nan"), f1, rate)
    value = (f1 if f1 == f1 else 0.0, -surprise)
    if not counted.any() or value > progress.best:
        progress.best, progress.best_step = value, progress.step
        progress.weights = {k: v.clone() for k, v in tagger.learner.weights().items()}
    return point


def _finished(tagger: NeuralTagger, dev: Sequence[Article]) -> NeuralTagger:
    """With calibration and spans of the dev part."""
    raw = [p for article in dev for p in tagger.probabilities(article)]
    found = fitted([s for article in dev for s in article.sentences], raw)
    return replace(tagger, calibration=found[0], rule=found[1]) if found else tagger


def _data(inputs: Sequence[Input], dev: Sequence[Article], seed: int) -> str:
    own = hashlib.sha256(str(seed).encode())
    for each in inputs:
        own.update(repr((each.pieces, each.labels, each.counted)).encode())
    for article in dev:
        own.update(repr([(s.text, s.labels) for s in article.sentences]).encode())
    return own.hexdigest()
