"""The relationship read from speech itself, without a model: Japanese, two speakers."""

from naisei.relationship.speech.course import Course, course, estimate
from naisei.relationship.speech.reading import Estimate, Sign, SpeechReading
from naisei.relationship.speech.weights import Weights, load_weights

__all__ = [
    "Course",
    "Estimate",
    "Sign",
    "SpeechReading",
    "Weights",
    "course",
    "estimate",
    "load_weights",
]
