"""How good a half-trained model is, without playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.training.items import Source, choice_item, classifier_item
from naisei.textgame.trained.training.learner import Learner

__all__ = ["Validation", "validate"]


@dataclass(frozen=True, slots=True)
class Validation:
    """loss: mean over examples, all candidates of a choice being rated. accuracy: share of
    choices whose positive is rated highest (a tie counts as wrong); of the classifier, share of
    actions on the right side of 0.5. wrong_found, right_kept: of the classifier, share of wrong
    actions found and of right actions left alone (thesis §5.2.3); NaN for the policy, and where
    there is no such action."""

    loss: float
    accuracy: float
    wrong_found: float = float("nan")
    right_kept: float = float("nan")


def validate(learner: Learner, sources: Sequence[Source]) -> Validation:
    """Over all of `sources`, which are of one task; NaN if there are none."""
    items = [
        choice_item(each, each.others) if isinstance(each, Choice) else classifier_item(each)
        for each in sources
    ]
    outputs = learner.rate([pair for item in items for pair in item.pairs])
    losses, right = [], []
    at = 0
    for item in items:
        own = outputs[at : at + len(item.pairs)]
        at += len(item.pairs)
        losses.append(learner.loss_of(own, item))
        if len(own) > 1:
            right.append(float(own[0] > max(own[1:])))
        else:
            right.append(float((own[0] > 0) == (item.labels[0] > 0.5)))
    if not (items and len(items[0].pairs) == 1):
        return Validation(_mean(losses), _mean(right))
    wrong = [r for r, item in zip(right, items, strict=True) if item.labels[0] > 0.5]
    kept = [r for r, item in zip(right, items, strict=True) if item.labels[0] < 0.5]
    return Validation(_mean(losses), _mean(right), _mean(wrong), _mean(kept))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
