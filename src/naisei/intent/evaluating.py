"""The evaluation of a dialogue: by a model, or by rules where there is none or it fails."""

from __future__ import annotations

from naisei.core import Chat, Flow, InstrumentFailure, Search
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh
from naisei.intent.judged import Judged
from naisei.intent.rule_evaluation import grade, sought
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation
from naisei.intent.words import evaluator_messages

__all__ = ["evaluate"]


def evaluate(dialogue: Dialogue, setting: Setting) -> Flow[Judged]:
    """Never fails for want of a model: what it cannot grade, the rules do."""
    failures: tuple[str, ...] = ()
    if "evaluator" in setting.rules.roles:
        try:
            found = yield from Chat("evaluator", evaluator_messages(dialogue, setting), Evaluation)
            return Judged(evaluation=found, evaluator="model")
        except InstrumentFailure as failure:
            failures = (f"evaluator: {failure}",)
    query = sought(dialogue)
    hits = yield from Search(query, k=setting.rules.depth, source="documents")
    weights = yield from Weigh(query)
    return grade(dialogue, hits, weights, setting).model_copy(update={"failures": failures})
