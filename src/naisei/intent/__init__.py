"""Intent first: a document assistant that asks back before it searches.

`run` measures it on a file of questions.
"""

from naisei.intent.config import AssistConfig, EvalConfig
from naisei.intent.schemas import Citation, Evaluation, Reply, Thresholds
from naisei.intent.system import ASSIST, EVAL
from naisei.system.execute import RunOptions

__all__ = [
    "ASSIST",
    "EVAL",
    "AssistConfig",
    "Citation",
    "EvalConfig",
    "Evaluation",
    "Reply",
    "RunOptions",
    "Thresholds",
    "arun",
    "run",
]

run, arun = EVAL.run, EVAL.arun
