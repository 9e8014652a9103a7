"""The coefficients of the estimator, versioned; fitted by tools/fit_speech.py."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from naisei.relationship.speech.features import FEATURES

__all__ = ["Weights", "load_weights"]


class Weights(BaseModel):
    """A linear model a dimension: value = intercept + Σ coefficient · feature.

    coefficients: dimension → feature → coefficient. intercepts: dimension → value; Power has 0,
    so that the two directions are mirror images. fitted_on: what they were fitted on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    intercepts: dict[str, float]
    coefficients: dict[str, dict[str, float]]
    fitted_on: str = ""

    def listed(self, dimension: str) -> list[float]:
        """Coefficients in the order of `FEATURES`."""
        return [self.coefficients[dimension][f.name] for f in FEATURES[dimension]]


@lru_cache(maxsize=4)
def load_weights(version: str = "speech.v1") -> Weights:
    """The shipped coefficients of this name."""
    path = files("naisei.relationship.speech") / "coefficients" / f"{version}.json"
    return Weights.model_validate(json.loads(path.read_text(encoding="utf-8")))
