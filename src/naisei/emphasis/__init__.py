"""Automatic emphasis: the words of a document that a careful editor would set in bold."""

from naisei.emphasis.config import EvalConfig
from naisei.emphasis.schemas import Article, Sentence, Span, Tagger, Token
from naisei.emphasis.system import EVAL
from naisei.system.execute import RunOptions

__all__ = [
    "EVAL",
    "Article",
    "EvalConfig",
    "RunOptions",
    "Sentence",
    "Span",
    "Tagger",
    "Token",
    "arun",
    "run",
]

run, arun = EVAL.run, EVAL.arun
