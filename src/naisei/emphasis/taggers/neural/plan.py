"""What a neural tagger is and how it is trained: everything that changes the result, frozen."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from naisei.emphasis.encoders.convert import NAME

__all__ = ["NeuralPlan"]


class NeuralPlan(BaseModel):
    """One row of the thesis' Table 4.1, or better.

    body: `transformer`, or `bilstm` over static vectors of words. title: the input is
    `[CLS] text [SEP] title` (§4.3.1). crf: eq. 4.1 on top, else every word by itself.
    encoder: the default, or a Hugging Face folder or name; layers: its first ones, all by
    default; for a BiLSTM it gives the vectors. hidden: of each direction
    of the BiLSTM.

    unit: what is read at once: a sentence (thesis), or as many sentences of the article as
    fit (`passage`). limit: subwords of an input.

    steps, batch, rate: 3,000, 16 and 2e-5 in the thesis (§4.4.5; BiLSTM 30,000 and 1e-4).
    every: steps between checkpoints, of which the best on the dev part is kept. head_rate: of
    what is new on top of the encoder. warmup: share of the steps; then the rates fall to zero.
    plain: share of the inputs without emphasis that an epoch is given. tuned: what is trained
    of the encoder: all (thesis), all but its word vectors (`layers`), or nothing (`head`): then
    each word's state is computed once; it and the mean of its sentence's go through one
    layer of `hidden`.
    decoding: the likeliest labels, or spans tuned on the dev part.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    body: Literal["transformer", "bilstm"] = "transformer"
    title: bool = False
    crf: bool = False
    encoder: str = NAME
    layers: int | None = Field(default=None, ge=1)
    hidden: int = Field(default=300, ge=1)
    unit: Literal["sentence", "passage"] = "sentence"
    limit: int = Field(default=256, ge=16)
    steps: int = Field(default=3000, ge=1)
    every: int = Field(default=300, ge=1)
    batch: int = Field(default=16, ge=1)
    rate: float = Field(default=2e-5, gt=0)
    head_rate: float = Field(default=1e-3, gt=0)
    decay: float = Field(default=0.01, ge=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    warmup: float = Field(default=0.1, ge=0, le=1)
    plain: float = Field(default=1.0, gt=0, le=1)
    tuned: Literal["all", "layers", "head"] = "layers"
    decoding: Literal["viterbi", "spans"] = "viterbi"
    precision: Literal["float32", "bfloat16"] = "float32"

    @property
    def name(self) -> str:
        """Such as `transformer-title-crf-viterbi.v1`."""
        parts: list[str] = [self.body]
        parts += [word for word in ("title", "crf") if getattr(self, word)]
        parts += ["passage"] if self.unit == "passage" else []
        parts += ["head"] if self.kept_states else []
        return "-".join([*parts, self.decoding]) + ".v1"

    @property
    def kept_states(self) -> bool:
        """Whether the network is given the states of an encoder that stays as it is."""
        return self.body == "transformer" and self.tuned == "head"

    def digest(self, data: str) -> str:
        """Of the plan and of what it is trained on; a checkpoint belongs to one of them."""
        return sha256(f"{self.model_dump_json()}\n{data}".encode()).hexdigest()[:24]

    def share_at(self, step: int) -> float:
        """What part of the rates is used at a step (from 0): up, then down in a line."""
        warm = round(self.warmup * self.steps)
        if step < warm:
            return (step + 1) / warm
        return (self.steps - step) / max(1, self.steps - warm)
