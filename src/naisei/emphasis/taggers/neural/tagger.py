"""Neural taggers: training with transformers' `Trainer`, and storage in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.calibration import Calibration, fitted
from naisei.emphasis.taggers.neural.encoder import Subwords, needs_torch
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.files import write_atomically
from naisei.lang import say
from naisei.runs.training import draw_curve, last_checkpoint, run_trainer

Floats = NDArray[np.float64]
#: Subwords per batch, padding included.
_AT_ONCE = 4096
#: Learning rate of new layers on the encoder; AdamW's other settings are the usual ones.
_HEAD_RATE, _DECAY, _WARMUP = 1e-3, 0.01, 0.1


def device_of(name: str) -> str:
    """The device of a name. `auto`: cuda if available, else cpu.

    Raises:
        InputError: no such device.
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


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """The result of `train`.

    network: a `Network`. calibration: fitted on the dev part. For the empty-title experiment
    (thesis, §4.6.2) pass articles whose title is "".
    """

    plan: NeuralPlan
    network: Any
    subwords: Subwords
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def name(self) -> str:
        return self.plan.name

    def probabilities(self, article: Article) -> list[Floats]:
        return self.read(article)[0]

    def labels(self, article: Article) -> list[list[bool]]:
        return self.read(article)[1]

    def read(self, article: Article) -> tuple[list[Floats], list[list[bool]]]:
        """Probabilities and labels from a single forward pass."""
        raw = [np.zeros(len(s.tokens)) for s in article.sentences]
        best = [np.zeros(len(s.tokens), bool) for s in article.sentences]
        for each, scores in self._scores(self.inputs(article)):
            number, first = each.place
            here = slice(first, first + len(each.labels))
            raw[number][here], best[number][here] = self.network.decoded(scores)
        counted = [np.array(s.counted, bool) for s in article.sentences]
        own = [
            np.where(can, self.calibration.apply(p), 0.0)
            for p, can in zip(raw, counted, strict=True)
        ]
        return own, [(row & can).tolist() for row, can in zip(best, counted, strict=True)]

    def inputs(self, article: Article) -> list[Any]:
        """The network's input for an article (`Input`)."""
        from naisei.emphasis.taggers.neural.network import inputs_of

        limit = min(self.plan.limit, self.network.longest)
        return inputs_of(article, self.subwords, title=self.plan.title, limit=limit)

    def _scores(self, inputs: Sequence[Any]) -> list[tuple[Any, Floats]]:
        """Scores of each input's words, batched by length."""
        import torch

        from naisei.emphasis.taggers.neural.network import batch

        self.network.eval()
        device = next(self.network.parameters()).device
        groups: list[list[Any]] = []
        for each in sorted(inputs, key=lambda each: len(each.ids)):
            if not groups or (len(groups[-1]) + 1) * len(each.ids) > _AT_ONCE:
                groups.append([])
            groups[-1].append(each)
        out: list[tuple[Any, Floats]] = []
        with torch.inference_mode():
            for own in groups:
                tensors = batch(own, pad=self.subwords.pad)
                said = self.network(**{name: t.to(device) for name, t in tensors.items()})
                rows = said["logits"].cpu().double().numpy()
                out += [
                    (each, row[: len(each.labels)]) for each, row in zip(own, rows, strict=True)
                ]
        return out


def untrained(plan: NeuralPlan, *, device: str = "auto", seed: int = 0) -> NeuralTagger:
    """An untrained tagger, determined by the seed.

    Raises:
        InputError: a requirement is not installed, or there is no such encoder.
    """
    needs_torch()
    from transformers import set_seed

    from naisei.emphasis.taggers.neural.network import Network

    set_seed(seed)
    return NeuralTagger(plan, Network(plan).to(device_of(device)), Subwords(plan.encoder))


def train(
    articles: Sequence[Article],
    dev: Sequence[Article] = (),
    *,
    plan: NeuralPlan,
    seed: int = 0,
    folder: Path | None = None,
    device: str = "auto",
    report: Callable[[Mapping[str, float]], None] = lambda logs: None,
) -> NeuralTagger:
    """Train a tagger on `articles`. Uses the checkpoint that is best on `dev`, or the last one
    without `dev`; `dev` also calibrates it.

    folder: for checkpoints and the curve (`curve.svg`, `history.json`); an interrupted training
    resumes there with the same result. report: called with the trainer's log entries: step,
    loss, eval_f1, ….

    Raises:
        InputError: nothing is emphasised, a requirement is not installed, no such encoder, or
            the folder contains another training.
    """
    if not any(any(s.labels) for a in articles for s in a.sentences):
        raise InputError(
            say(
                f"{len(articles)} 記事のどこにも強調がありません",
                f"nothing is emphasised in the {len(articles)} articles to learn from",
            ),
            remedy=say("太字を含む文書を与えてください", "give documents that have bold words"),
        )
    if folder is None:
        with TemporaryDirectory() as scratch:
            return train(articles, dev, plan=plan, seed=seed, folder=Path(scratch), device=device,
                         report=report)  # fmt: skip
    tagger = untrained(plan, device=device, seed=seed)
    inputs = [each for article in articles for each in tagger.inputs(article)]
    aside = [each for article in dev for each in tagger.inputs(article)]
    digest = sha256(f"{plan.digest}\n{seed}\n{inputs}\n{aside}".encode()).hexdigest()[:24]
    begun = last_checkpoint(folder, digest)
    # Train on a share of the inputs without emphasis, the same at each start.
    drawn = np.random.default_rng(seed).random(len(inputs))
    some = [
        each for each, p in zip(inputs, drawn, strict=True) if 1 in each.labels or p < plan.plain
    ]
    trainer = _trainer(tagger, some, aside, folder, seed=seed, device=device, report=report)
    run_trainer(trainer, begun, folder)
    history = trainer.state.log_history
    lines = {"training loss": "loss", "dev loss": "eval_loss", "dev token F1": "eval_f1"}
    draw_curve(folder, history, lines, title=f"{plan.name}, seed {seed}")
    raw = [p for article in dev for p in tagger.probabilities(article)]
    found = fitted([s for article in dev for s in article.sentences], raw)
    return replace(tagger, calibration=found[0]) if found else tagger


def _trainer(
    tagger: NeuralTagger, inputs: Sequence[Any], dev: Sequence[Any], folder: Path, *, seed: int,
    device: str, report: Callable[[Mapping[str, float]], None],
) -> Any:  # fmt: skip
    import torch
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    from naisei.emphasis.taggers.neural.network import batch

    class _Report(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            report({"step": state.global_step, **(logs or {})})

    plan, network = tagger.plan, tagger.network
    scored = bool(dev) and any(1 in each.labels for each in dev)
    trainer = Trainer(
        model=network,
        args=TrainingArguments(
            output_dir=str(folder),
            max_steps=plan.steps,
            per_device_train_batch_size=plan.batch,
            per_device_eval_batch_size=64,
            lr_scheduler_type="linear",
            warmup_steps=_WARMUP,
            seed=seed,
            eval_strategy="steps" if scored else "no",
            eval_steps=plan.every,
            save_steps=plan.every,
            save_total_limit=1,
            load_best_model_at_end=scored,
            metric_for_best_model="f1" if scored else None,
            greater_is_better=True if scored else None,
            logging_steps=plan.every,
            label_names=["labels"],
            use_cpu=device_of(device) == "cpu",
            report_to=[],
            disable_tqdm=True,
            log_level="error",
            remove_unused_columns=False,
            dataloader_pin_memory=False,
        ),
        data_collator=lambda own: batch(own, pad=tagger.subwords.pad),
        train_dataset=list(inputs),
        eval_dataset=list(dev),
        compute_metrics=lambda predicted: {"f1": _f1(network, predicted)},
        optimizers=(torch.optim.AdamW(_groups(network, plan)), None),
        callbacks=[_Report()],
    )
    trainer.remove_callback(PrinterCallback)  # standard output is for the result
    return trainer


def _f1(network: Any, predicted: Any) -> float:
    """Token F1 of the likeliest labels."""
    right = said = true = 0
    for scores, labels in zip(predicted.predictions, predicted.label_ids, strict=True):
        # Both are padded with −100.
        n = int((scores[:, 0] != -100).sum())
        own, gold = np.array(network.decoded(scores[:n])[1], bool), labels[:n]
        right += int((own & (gold == 1)).sum())
        said += int((own & (gold >= 0)).sum())
        true += int((gold == 1).sum())
    return 2 * right / (said + true) if said + true else 0.0


def _groups(network: Any, plan: NeuralPlan) -> list[dict[str, Any]]:
    """Parameter groups: no decay for biases and scales; a separate rate for new layers."""
    found: dict[tuple[float, float], list[Any]] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            fresh = name.startswith("crf.") or ".classifier." in name
            decay = _DECAY if parameter.ndim > 1 and not name.startswith("crf.") else 0.0
            rate = _HEAD_RATE if fresh else plan.rate
            found.setdefault((rate, decay), []).append(parameter)
    return [{"params": p, "lr": lr, "weight_decay": d} for (lr, d), p in found.items()]


# Saves a trained neural tagger in a folder, and loads it.
#
# `tagger.json`: plan and calibration. `tagger.safetensors`: trained weights; untrained word
# vectors are loaded again by the encoder's name.

CARD = "tagger.json"
_WEIGHTS = "tagger.safetensors"
_FORMAT = 2


def _trained(network: Any) -> dict[str, Any]:
    still = {name for name, p in network.named_parameters() if not p.requires_grad}
    return {name: w for name, w in network.state_dict().items() if name not in still}


def save(tagger: NeuralTagger, folder: Path) -> None:
    """Write the tagger; the card is written last, so a folder with a card is complete."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    (folder / CARD).unlink(missing_ok=True)  # from an earlier tagger
    about = {
        "format": _FORMAT,
        "name": tagger.name,
        "plan": tagger.plan.model_dump(),
        "calibration": [tagger.calibration.scale, tagger.calibration.shift],
    }
    scratch = folder / f".{_WEIGHTS}.tmp"
    save_file({n: w.cpu().contiguous() for n, w in _trained(tagger.network).items()}, str(scratch))
    scratch.replace(folder / _WEIGHTS)
    write_atomically(folder / CARD, json.dumps(about, ensure_ascii=False, indent=1) + "\n")


def load(folder: Path, *, device: str = "cpu") -> NeuralTagger:
    """Load a tagger written by `save`.

    Raises:
        InputError: the folder contains no such tagger, or its encoder cannot be opened.
    """
    try:
        about = json.loads((folder / CARD).read_text(encoding="utf-8"))
        if about["format"] != _FORMAT:
            raise ValueError(f"its format is {about['format']}")
        plan = NeuralPlan.model_validate(about["plan"])
        calibration = Calibration(*about["calibration"])
        tagger = untrained(plan, device=device)
        from safetensors.torch import load_file

        weights = load_file(str(folder / _WEIGHTS), device=device)
        if other := weights.keys() ^ _trained(tagger.network).keys():
            raise ValueError(f"weights of another network: {sorted(other)[:3]}")
        tagger.network.load_state_dict(weights, strict=False)
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
    return replace(tagger, calibration=calibration)
