"""What a step of training is computed from, in an order that the seed alone decides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from random import Random

from naisei.textgame.trained.dataset import Choice, negatives
from naisei.textgame.trained.labels import ProcessingExample
from naisei.textgame.trained.situation import Situation

__all__ = [
    "Item",
    "Processing",
    "Source",
    "batches",
    "by_cookbook",
    "choice_item",
    "data_digest",
    "drawn",
    "length_of",
    "processing_item",
    "sampled",
    "weights",
]


@dataclass(frozen=True, slots=True)
class Processing:
    """A cookbook and actions that cook or cut. wrong: of each action, 1 or 0."""

    cookbook: str
    actions: tuple[str, ...]
    wrong: tuple[int, ...]


Source = Choice | Processing
#: Batches among which examples are sorted by length, so that little is padded.
_SORTED = 16


@dataclass(frozen=True, slots=True)
class Item:
    """Actions of one situation, each with its label. Of a choice the first is the positive.
    weight: of the item in a ranking loss."""

    situation: Situation
    actions: tuple[str, ...]
    labels: tuple[float, ...]
    weight: float = 1.0


def by_cookbook(examples: Sequence[ProcessingExample], *, together: bool) -> list[Processing]:
    """The classifier's examples. together: those of a game as one, else each by itself."""
    if not together:
        return [Processing(e.cookbook, (e.action,), (e.wrong,)) for e in examples]
    games = [list(own) for _, own in groupby(examples, key=lambda e: (e.game, e.cookbook))]
    return [
        Processing(own[0].cookbook, tuple(e.action for e in own), tuple(e.wrong for e in own))
        for own in games
    ]


def choice_item(choice: Choice, others: Sequence[str]) -> Item:
    actions = (choice.action, *others)
    return Item(choice.situation, actions, (1.0, *(0.0 for _ in others)))


def processing_item(source: Processing) -> Item:
    labels = tuple(float(wrong) for wrong in source.wrong)
    return Item(Situation(cookbook=source.cookbook), source.actions, labels)


def sampled(source: Source, count: int, *, seed: str) -> Item:
    """The item of one epoch: negatives are drawn anew in each."""
    if isinstance(source, Choice):
        return choice_item(source, negatives(source, count, seed=seed))
    return processing_item(source)


def weights(sources: Sequence[Source], exponent: float) -> list[float]:
    """One a source: the rarer the verb that the walkthrough chose, the more, by this power of its
    share; 1 on average over verbs' uses. All 1 with exponent 0."""
    verbs = [s.action.partition(" ")[0] if isinstance(s, Choice) else "" for s in sources]
    share = Counter(verbs)
    raw = [share[verb] ** -exponent for verb in verbs]
    mean = sum(raw) / len(raw)
    return [value / mean for value in raw]


def drawn(weights: Sequence[float], *, seed: int, epoch: int) -> list[int]:
    """Numbers of examples, as many as there are weights, each as often as its weight says: the
    whole part of it for certain, the rest by a draw that seed and epoch decide."""
    draw = Random(f"draws/{seed}/{epoch}")
    total = sum(weights)
    out: list[int] = []
    due = draw.random()
    for number, weight in enumerate(weights):
        due += weight * len(weights) / total
        while due >= 1.0 and len(out) < len(weights):
            out.append(number)
            due -= 1.0
    return out + [len(weights) - 1] * (len(weights) - len(out))  # where the sum was rounded


def batches(lengths: Sequence[int], batch: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Numbers of examples, every one once, by a shuffle that seed and epoch decide.

    lengths: of the examples' texts. Within runs of a few batches those of similar length come
    together; the batches are then shuffled again. The last may be smaller.
    """
    draw = Random(f"{seed}/{epoch}")
    numbers = list(range(len(lengths)))
    draw.shuffle(numbers)
    out: list[list[int]] = []
    for start in range(0, len(numbers), batch * _SORTED):
        run = sorted(numbers[start : start + batch * _SORTED], key=lambda n: lengths[n])
        out += [run[at : at + batch] for at in range(0, len(run), batch)]
    draw.shuffle(out)
    return out


def length_of(source: Source) -> int:
    """Characters to be read, about."""
    if isinstance(source, Choice):
        return len(source.situation.text)
    return len(source.cookbook) + sum(map(len, source.actions))


def data_digest(sources: Sequence[Source]) -> str:
    """Of the examples, in order."""
    digest = sha256()
    for each in sources:
        if isinstance(each, Choice):
            parts = [each.situation.text, each.action, *each.others]
        else:
            parts = [each.cookbook, *each.actions, *map(str, each.wrong)]
        digest.update(json.dumps(parts).encode() + b"\n")
    return digest.hexdigest()[:24]
