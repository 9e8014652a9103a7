"""A trained network as a tagger, what it learns with, and its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration, SpanRule
from naisei.emphasis.taggers.neural.encoder import Encoder
from naisei.emphasis.taggers.neural.inputs import (
    Batch,
    Input,
    Subwords,
    batches_by_length,
    inputs_of,
    tensors,
)
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.files import write_atomically
from naisei.lang import say


def device_of(name: str) -> str:
    """`auto`: cuda where there is one, else cpu.

    Raises:
        InputError: no such device here.
    """
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            say(f"このマシンに '{name}' はありません", f"there is no device '{name}' here"),
            place=f"--device {name}",
            remedy=say("auto か cpu を指定してください", "use auto or cpu"),
        ) from error
    return name


class Learner:
    """device: `cpu`, `cuda`, …; the head's first weights are the same for the same seed."""

    def __init__(self, plan: NeuralPlan, encoder: Encoder, *, device: str, seed: int) -> None:
        import torch

        from naisei.emphasis.taggers.neural.network import Network

        torch.manual_seed(seed)
        self.plan, self.device = plan, device
        self.pad = encoder.subwords.pad
        self.network = Network(plan, encoder.body, encoder.width).to(device)
        self.optimiser: Any = torch.optim.AdamW(_groups(self.network, plan))

    def step(self, inputs: Sequence[Input], *, share: float, seed: int) -> float:
        """Learn from a batch; returns its loss. share: of the plan's rates. seed: of the
        dropout, so that a training that goes on draws what it would have drawn."""
        import torch

        self.network.train()
        torch.manual_seed(seed)
        for group in self.optimiser.param_groups:
            group["lr"] = group["full"] * share
        batch = self._batch(inputs)
        scores = self.network(batch)
        loss = self.network.loss(scores, batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        return float(loss.detach())

    def read(self, inputs: Sequence[Input]) -> tuple[list[list[float]], list[list[int]]]:
        """Probabilities of emphasis and the likeliest labels, per word of each input."""
        import torch

        self.network.eval()
        p: list[list[float]] = [[] for _ in inputs]
        y: list[list[int]] = [[] for _ in inputs]
        with torch.inference_mode():
            for numbers in batches_by_length(inputs):
                batch = self._batch([inputs[i] for i in numbers])
                scores = self.network(batch)
                for i, one, other in zip(
                    numbers,
                    self.network.probabilities(scores, batch),
                    self.network.best(scores, batch),
                    strict=True,
                ):
                    p[i], y[i] = one, other
        return p, y

    def weights(self) -> dict[str, Any]:
        """Of the network, on the CPU, without word vectors that are never trained."""
        kept = _kept(self.network)
        return {name: value.cpu() for name, value in self.network.state_dict().items()
                if name in kept}  # fmt: skip

    def load(self, weights: dict[str, Any]) -> None:
        """What `weights` gave.

        Raises:
            ValueError: they are those of another network.
        """
        missing = set(weights) ^ _kept(self.network)
        if missing:
            raise ValueError(f"weights of another network: {sorted(missing)[:3]}")
        self.network.load_state_dict(weights, strict=False)

    def _batch(self, inputs: Sequence[Input]) -> Batch:
        return tensors(inputs, pad=self.pad, device=self.device)


def _kept(network: Any) -> set[str]:
    still = {name for name, p in network.named_parameters() if not p.requires_grad}
    return {name for name in network.state_dict() if name not in still}


def _groups(network: Any, plan: NeuralPlan) -> list[dict[str, Any]]:
    """Biases and scales are not decayed; what is new learns at its own rate."""
    found: dict[tuple[float, float], list[Any]] = {}
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        rate = plan.rate if name.startswith("body.") else plan.head_rate
        decay = plan.decay if parameter.ndim > 1 and not name.startswith("crf.") else 0.0
        found.setdefault((rate, decay), []).append(parameter)
    return [
        {"params": own, "lr": rate, "full": rate, "weight_decay": decay}
        for (rate, decay), own in found.items()
    ]


def spread(
    values: Sequence[Sequence[float]], inputs: Sequence[Input], sizes: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Values of the words of inputs, put back into the sentences of their article."""
    out = [np.zeros(size) for size in sizes]
    for own, each in zip(values, inputs, strict=True):
        for value, (sentence, word) in zip(own, each.places, strict=True):
            out[sentence][word] = value
    return out


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
            limit=min(self.plan.limit, self.longest),
        )


# A trained neural tagger as a folder, and back.
#
# `tagger.json`: plan, calibration, spans. `tagger.safetensors`: what was trained; word vectors that
# stayed as they are are opened by the encoder's name again.

CARD = "tagger.json"
_WEIGHTS = "tagger.safetensors"
_FORMAT = 1


def save(tagger: NeuralTagger, folder: Path) -> None:
    """Writes the tagger; the card comes last, so that a folder with a card is whole."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    (folder / CARD).unlink(missing_ok=True)  # of a tagger that was there before
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
        from naisei.emphasis.taggers.neural.training import untrained

        tagger = untrained(plan, device=device)
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
