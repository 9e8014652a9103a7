"""From texts to the numbers that an encoder takes, padded to the longest of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.textgame.trained.model_dir import Special
from naisei.textgame.trained.situation import Situation, fit

__all__ = ["Batch", "Numbers", "PairEncoder", "numbers_by", "special_of"]

#: From a text to the numbers of its tokens, without those that frame it.
Numbers = Callable[[str], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Each `(pairs, tokens)`, int64."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]

    def named(self, names: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        return {name: getattr(self, name) for name in names}


class PairEncoder:
    """numbers: of a text's tokens (`numbers_by`). limit: tokens of a pair, special ones too."""

    def __init__(self, numbers: Numbers, special: Special, *, limit: int) -> None:
        self.special, self.limit = special, limit
        self._framing = len(special.before) + len(special.between) + len(special.after)
        # Each text occurs with every candidate of a state, and in many states.
        self._ids = lru_cache(maxsize=4096)(numbers)

    def pair(self, situation: Situation, action: str) -> tuple[list[int], int]:
        """Token numbers, and where the second segment begins."""
        first, second = fit(
            self._ids(situation.possessions),
            self._ids(situation.environment),
            self._ids(action),
            limit=self.limit - self._framing,
        )
        head = [*self.special.before, *first, *self.special.between]
        return [*head, *second, *self.special.after], len(head)

    def batch(self, pairs: Sequence[tuple[Situation, str]]) -> Batch:
        """The pairs in order."""
        encoded = [self.pair(*each) for each in pairs]
        shape = (len(encoded), max(len(ids) for ids, _ in encoded))
        ids = np.full(shape, self.special.pad, np.int64)
        mask, types = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, (numbers, second) in enumerate(encoded):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
            if self.special.types:
                types[row, second : len(numbers)] = 1
        return Batch(ids, mask, types)


def numbers_by(tokenizer: Any) -> Numbers:
    """By a tokenizer of the library `tokenizers`."""
    return lambda text: tuple(tokenizer.encode(text, add_special_tokens=False).ids)


def special_of(tokenizer: Any, *, pad: int, types: bool) -> Special:
    """How a tokenizer frames a pair, read off an encoded one."""
    one, two = (tokenizer.encode(t, add_special_tokens=False).ids for t in ("go", "eat"))
    ids = list(tokenizer.encode("go", "eat").ids)
    at = _find(ids, one, 0)
    then = _find(ids, two, at + len(one))
    return Special(
        before=tuple(ids[:at]),
        between=tuple(ids[at + len(one) : then]),
        after=tuple(ids[then + len(two) :]),
        pad=pad,
        types=types,
    )


def _find(ids: Sequence[int], part: Sequence[int], start: int) -> int:
    return next(i for i in range(start, len(ids)) if list(ids[i : i + len(part)]) == list(part))
