"""What a step of training is computed from, in an order that the seed alone decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from naisei.textgame.trained.dataset import Choice, negatives
from naisei.textgame.trained.labels import ProcessingExample
from naisei.textgame.trained.situation import Situation

__all__ = ["Item", "Source", "choice_item", "classifier_item", "data_digest", "order", "sampled"]

Source = Choice | ProcessingExample


@dataclass(frozen=True, slots=True)
class Item:
    """Pairs that belong together, each with its label. Of a choice the first is the positive."""

    pairs: tuple[tuple[Situation, str], ...]
    labels: tuple[float, ...]


def choice_item(choice: Choice, others: Sequence[str]) -> Item:
    actions = (choice.action, *others)
    return Item(
        tuple((choice.situation, action) for action in actions),
        (1.0, *(0.0 for _ in others)),
    )


def classifier_item(example: ProcessingExample) -> Item:
    return Item(((Situation(cookbook=example.cookbook), example.action),), (float(example.wrong),))


def sampled(source: Source, count: int, *, seed: str) -> Item:
    """The item of one epoch: negatives are drawn anew in each."""
    if isinstance(source, Choice):
        return choice_item(source, negatives(source, count, seed=seed))
    return classifier_item(source)


def order(size: int, *, seed: int, epoch: int) -> list[int]:
    """A permutation."""
    numbers = list(range(size))
    Random(f"{seed}/{epoch}").shuffle(numbers)
    return numbers


def data_digest(sources: Sequence[Source]) -> str:
    """Of the examples, in order."""
    digest = sha256()
    for each in sources:
        if isinstance(each, Choice):
            digest.update(
                json.dumps([each.situation.text, each.action, *each.others]).encode() + b"\n"
            )
        else:
            digest.update(each.model_dump_json().encode() + b"\n")
    return digest.hexdigest()[:24]
