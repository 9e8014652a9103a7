"""Estimates the relationship of two Japanese speakers from their speech, without a model."""

from naisei.relationship.speech.estimator import (
    Coefficients,
    Estimate,
    Sign,
    SpeechEstimator,
    SpeechReading,
    course,
    estimate,
    load_coefficients,
)

__all__ = [
    "Coefficients",
    "Estimate",
    "Sign",
    "SpeechEstimator",
    "SpeechReading",
    "course",
    "estimate",
    "load_coefficients",
]
