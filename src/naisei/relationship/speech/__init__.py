"""The relationship read from speech itself, without a model: Japanese, two speakers."""

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
