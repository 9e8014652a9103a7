"""How good a half-trained model is, without playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp

from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.training.items import Source, choice_item, processing_item
from naisei.textgame.trained.training.learner import Learner

__all__ = ["Validation", "threshold", "validate"]


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
        choice_item(each, each.others) if isinstance(each, Choice) else processing_item(each)
        for each in sources
    ]
    outputs = learner.rate([(item.situation, item.actions) for item in items])
    losses = [learner.loss_of(own, item) for own, item in zip(outputs, items, strict=True)]
    if items and isinstance(sources[0], Choice):
        return Validation(_mean(losses), _mean([float(own[0] > max(own[1:])) for own in outputs]))
    actions = [
        (label > 0.5, (output > 0) == (label > 0.5))
        for own, item in zip(outputs, items, strict=True)
        for output, label in zip(own, item.labels, strict=True)
    ]
    return Validation(
        _mean(losses),
        _mean([right for _, right in actions]),
        _mean([right for wrong, right in actions if wrong]),
        _mean([right for wrong, right in actions if not wrong]),
    )


def threshold(learner: Learner, sources: Sequence[Source], *, keep: float = 0.99) -> float:
    """The lowest rating of 0.5 or more that leaves this share of the right actions alone.

    A cookbook does not tell what is done already when a game begins, and an action that it asks
    for is then wrong all the same; so a classifier rates right actions at about the share of
    these, which can come near a half. 0.5 where there is nothing to go by.
    """
    items = [processing_item(each) for each in sources if not isinstance(each, Choice)]
    outputs = learner.rate([(item.situation, item.actions) for item in items])
    right = sorted(
        1 / (1 + exp(-output))
        for own, item in zip(outputs, items, strict=True)
        for output, label in zip(own, item.labels, strict=True)
        if label < 0.5
    )
    if not right:
        return 0.5
    return min(0.99, max(0.5, right[min(len(right) - 1, ceil(keep * len(right)))]))


def _mean(values: Sequence[float] | Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")
