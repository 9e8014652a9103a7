"""An evaluation as it came about."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.intent.schemas import Evaluation

__all__ = ["Judged"]


class Judged(BaseModel):
    """evaluator: who gave the grades. options: topics that the question back offers.
    failures: instrument failures on the way."""

    model_config = ConfigDict(frozen=True)

    evaluation: Evaluation
    evaluator: Literal["model", "rules"]
    options: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
