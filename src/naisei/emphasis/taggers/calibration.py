"""Probabilities that mean what they say: Platt scaling on the dev part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf.lbfgs import minimise

__all__ = ["Calibration", "calibrated", "expected_error"]

Floats = NDArray[np.float64]
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """p → σ(scale × logit p + shift). scale > 0, so that the order never changes."""

    scale: float = 1.0
    shift: float = 0.0

    def apply(self, probabilities: ArrayLike) -> Floats:
        out: Floats = 1 / (1 + np.exp(-(self.scale * _logit(probabilities) + self.shift)))
        return out


def calibrated(probabilities: ArrayLike, labels: ArrayLike) -> Calibration:
    """The likeliest calibration, with Platt's (1999) smoothed targets.

    The identity where all labels are alike: then there is nothing to learn from.
    """
    x, y = _logit(probabilities), np.asarray(labels, np.float64)
    more = float(y.sum())
    less = len(y) - more
    if not more or not less:
        return Calibration()
    target = np.where(y > 0, (more + 1) / (more + 2), 1 / (less + 2))

    def objective(at: Floats) -> tuple[float, Floats]:
        # The scale is e^u: it stays above 0.
        scale = float(np.exp(at[0]))
        z = scale * x + at[1]
        error = 1 / (1 + np.exp(-np.clip(z, -500, 500))) - target
        loss = float((np.logaddexp(0, z) - target * z).mean())
        slope = np.array([float((error * x).mean()) * scale, float(error.mean())])
        # A light pull towards the identity, for a dev part of a few sentences.
        return loss + 1e-3 * float(at @ at), slope + 2e-3 * at

    found = minimise(objective, np.zeros(2), tolerance=1e-9).at
    return Calibration(float(np.exp(found[0])), float(found[1]))


def expected_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width (Naeini et al. 2015); NaN for none."""
    p, y = np.asarray(probabilities, np.float64), np.asarray(labels, np.float64)
    if not len(p):
        return float("nan")
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(which, weights=p - y, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def _logit(probabilities: ArrayLike) -> Floats:
    p = np.clip(np.asarray(probabilities, np.float64), _EDGE, 1 - _EDGE)
    out: Floats = np.log(p) - np.log1p(-p)
    return out
