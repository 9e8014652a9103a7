"""A trained network as a tagger, and its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration, SpanRule
from naisei.emphasis.taggers.neural.inputs import Input, inputs_of
from naisei.emphasis.taggers.neural.learner import Learner, spread
from naisei.emphasis.taggers.neural.subwords import Subwords
from naisei.emphasis.taggers.neural.training import blank, train
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.files import write_atomically
from naisei.lang import say

__all__ = ["CARD", "NeuralTagger", "load", "save", "unseen"]


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """What `naisei.emphasis.taggers.neural.training.train` makes.

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


# A trained neural tagger as a folder, and back.
#
# `tagger.json`: plan, calibration, spans. `tagger.safetensors`: what was trained; the encoder's
# word vectors, or the whole encoder where it stayed as it is, are opened by name again.

CARD = "tagger.json"
_WEIGHTS = "tagger.safetensors"
_FORMAT = 1


def save(tagger: NeuralTagger, folder: Path) -> None:
    """Writes the tagger; the card comes last, so that a folder with a card is whole."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "format": _FORMAT,
        "name": tagger.name,
        "plan": tagger.plan.model_dump(),
        "calibration": [tagger.calibration.scale, tagger.calibration.shift],
        "rule": [tagger.rule.threshold, tagger.rule.cost],
    }
    scratch = folder / f".{_WEIGHTS}.tmp"
    weights = {name: w.contiguous() for name, w in tagger.learner.weights().items()}
    save_file(weights, str(scratch))
    scratch.replace(folder / _WEIGHTS)
    write_atomically(folder / CARD, json.dumps(about, ensure_ascii=False, indent=1) + "\n")


def load(folder: Path, *, device: str = "cpu") -> NeuralTagger:
    """The tagger that `save` wrote.

    Raises:
        InputError: the folder holds no such tagger, or its encoder cannot be opened.
    """
    try:
        about = json.loads((folder / CARD).read_text(encoding="utf-8"))
        if about["format"] != _FORMAT:
            raise ValueError(f"its format is {about['format']}")
        plan = NeuralPlan.model_validate(about["plan"])
        calibration, rule = Calibration(*about["calibration"]), SpanRule(*about["rule"])
        tagger = blank(plan, device=device)
        from safetensors.torch import load_file

        tagger.learner.load(load_file(str(folder / _WEIGHTS), device=device))
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ValidationError) as error:
        raise InputError(
            say(
                f"学習済みのニューラルタガーではありません: {error}",
                f"this is no trained neural tagger: {error}",
            ),
            place=str(folder),
            remedy=say("学習が書き出したフォルダーを指定してください", "give what training wrote"),
        ) from error
    return NeuralTagger(plan, tagger.learner, tagger.subwords, tagger.longest, calibration, rule)


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
