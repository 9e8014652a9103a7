"""The context CRF and neural taggers together: the neural ones read meaning, the CRF what the
whole article tells. Their log-odds are added with weights learnt from what each said of
articles that it had not seen (stacked generalisation, Wolpert 1992).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.schemas import Article, Sentence, Tagger
from naisei.emphasis.taggers.calibration import Blend, SpanRule, blended, tuned
from naisei.emphasis.taggers.crf import CrfTagger, train_and_ask
from naisei.emphasis.taggers.crf import load as load_crf
from naisei.emphasis.taggers.crf import save as save_crf
from naisei.emphasis.taggers.plans import StackPlan
from naisei.files import write_atomically
from naisei.lang import say

Floats = NDArray[np.float64]
_CRF, _NEURAL, _BLEND = "crf.npz", "neural", "blend.json"


@dataclass(frozen=True, slots=True)
class StackedTagger:
    """blend: of the CRF, first, and the neural ones. rule: of the spans."""

    name: str
    crf: CrfTagger
    neural: tuple[Tagger, ...]
    blend: Blend
    rule: SpanRule = field(default_factory=SpanRule)

    def probabilities(self, article: Article) -> list[Floats]:
        said = [each.probabilities(article) for each in (self.crf, *self.neural)]
        return [
            np.where(s.counted, self.blend.apply(*row), 0.0)
            for s, *row in zip(article.sentences, *said, strict=True)
        ]

    def labels(self, article: Article) -> list[list[bool]]:
        return [
            [bool(y and can) for y, can in zip(self.rule.choose(p), s.counted, strict=True)]
            for p, s in zip(self.probabilities(article), article.sentences, strict=True)
        ]


def train(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: StackPlan,
    seed: int = 0,
    folder: Path | None = None,
    device: str = "auto",
) -> StackedTagger:
    """Needs the extra `train`. Both taggers learn from `dev`, too; the neural ones keep their
    last checkpoint, so that nothing is judged by what it was chosen by.

    Raises:
        InputError: nothing is emphasised, something is not installed, or no such encoder.
    """
    from naisei.emphasis.taggers.neural.training import out_of_fold
    from naisei.emphasis.taggers.neural.training import train as train_neural

    whole = [*articles, *dev]
    crf, held = train_and_ask(articles, dev, plan=plan.crf)
    neural: list[Tagger] = []
    said = [[crf.calibration.apply(p) for p in held]]
    for number, network in enumerate(plan.networks):
        own = None if folder is None else folder / f"network{number}"
        rows = out_of_fold(
            whole, plan=network, parts=plan.parts, seed=seed, folder=own, device=device
        )
        said.append([p for article in rows for p in article])
        last = None if own is None else own / "whole"
        neural.append(train_neural(whole, plan=network, seed=seed, folder=last, device=device))
    blend, rule = _tuned([s for a in whole for s in a.sentences], said)
    return StackedTagger(plan.name, crf, tuple(neural), blend, rule)


def _tuned(
    sentences: Sequence[Sentence], said: Sequence[Sequence[Floats]]
) -> tuple[Blend, SpanRule]:
    """Weighed and tuned on words whose articles no tagger had seen."""
    counted = np.array([can for s in sentences for can in s.counted], bool)
    gold = np.array([y for s in sentences for y in s.labels], bool)
    blend = blended([np.concatenate([*each])[counted] for each in said], gold[counted])
    own = [
        np.where(s.counted, blend.apply(*row), 0.0)
        for s, *row in zip(sentences, *said, strict=True)
    ]
    return blend, tuned(own, [s.labels for s in sentences])


def save(tagger: StackedTagger, folder: Path) -> None:
    """Writes the CRF last, so that a folder with one is whole."""
    from naisei.emphasis.taggers.neural.tagger import NeuralTagger
    from naisei.emphasis.taggers.neural.tagger import save as save_neural

    (folder / _CRF).unlink(missing_ok=True)  # of a tagger that was there before
    for number, each in enumerate(tagger.neural):
        assert isinstance(each, NeuralTagger)
        save_neural(each, folder / f"{_NEURAL}{number}")
    about = {
        "networks": len(tagger.neural),
        "name": tagger.name,
        "blend": asdict(tagger.blend),
        "rule": asdict(tagger.rule),
    }
    write_atomically(folder / _BLEND, json.dumps(about, indent=1) + "\n")
    save_crf(tagger.crf, folder / _CRF)


def load(folder: Path, *, device: str = "cpu") -> StackedTagger:
    """Raises:
    InputError: the folder holds no such tagger.
    """
    from naisei.emphasis.taggers.neural.tagger import load as load_neural

    crf = load_crf(folder / _CRF)
    try:
        about = json.loads((folder / _BLEND).read_text(encoding="utf-8"))
        neural = tuple(
            load_neural(folder / f"{_NEURAL}{number}", device=device)
            for number in range(about["networks"])
        )
        blend = Blend(tuple(about["blend"]["weights"]), float(about["blend"]["shift"]))
        rule = SpanRule(**about["rule"])
        return StackedTagger(str(about["name"]), crf, neural, blend, rule)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            say(f"学習済みのタガーではありません: {error}", f"no trained tagger: {error}"),
            place=str(folder),
            remedy=say("学習が書き出したフォルダーを指定してください", "give what training wrote"),
        ) from error
