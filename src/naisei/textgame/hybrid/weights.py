"""A linear model over named features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.hybrid.features import features
from naisei.textgame.trained.situation import Situation

__all__ = ["IDLE", "LinearScorer", "Weights", "read_weights"]


#: A view holds the inventory already.
IDLE = "inventory"


class Weights(BaseModel):
    """of: feature → weight. trained: how they were made, for people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: dict[str, float]
    trained: dict[str, str | int | float] = {}


class LinearScorer:
    """Probability of each action among those given: a conditional logit. 0 for `inventory`."""

    def __init__(self, weights: Weights) -> None:
        self._of = weights.of

    def values(self, situation: Situation, actions: Sequence[str]) -> NDArray[np.float64]:
        """The sums of the weights, `(actions,)`."""
        return np.array(
            [
                sum(self._of.get(name, 0.0) for name in names)
                for names in features(situation, actions)
            ]
        )

    def score(self, situation: Situation, actions: Sequence[str]) -> Sequence[float]:
        if not actions:
            return ()
        values = self.values(situation, actions)
        odds = np.exp(values - values.max()) * [action != IDLE for action in actions]
        if not odds.any():
            return [1.0] * len(actions)
        rated: list[float] = (odds / odds.sum()).tolist()
        return rated


@lru_cache(maxsize=8)
def read_weights(path: Path | None = None) -> Weights:
    """Of a file; by default those that come with the package.

    Raises:
        InputError: no such file, or it holds no weights.
    """
    source = path or files("naisei") / "data" / "hybrid_weights" / "weights.json"
    try:
        return Weights.model_validate_json(source.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            say(f"重みとして読めません: {error}", f"these are no weights: {error}"),
            place=str(source),
            remedy=say(
                "次のコマンドで作れます: python tools/hybrid_weights.py --recorded FILE --out FILE",
                "make them: python tools/hybrid_weights.py --recorded FILE --out FILE",
            ),
        ) from error
