"""Tokenization, and arrays that encode a state with its actions."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from naisei.textgame.cooking_state import TextState, fit


class Special(BaseModel):
    """Special tokens of a pair: before the first segment, between, after the second.

    BERT: `[CLS] a [SEP] b [SEP]`; RoBERTa: `<s> a </s></s> b </s>`. types: whether the second
    segment has type 1.
    """

    model_config = ConfigDict(frozen=True)

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    types: bool


#: Text → token ids without special tokens.
Numbers = Callable[[str], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Encoded pairs; each array is `(pairs, tokens)`, int64."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]

    def named(self, names: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        return {name: getattr(self, name) for name in names}


class PairEncoder:
    """Encodes (state, action) pairs. numbers: text → token ids (`numbers_by`). limit: most tokens
    of a pair, including special ones."""

    def __init__(self, numbers: Numbers, special: Special, *, limit: int) -> None:
        self.special, self.limit = special, limit
        self._framing = len(special.before) + len(special.between) + len(special.after)
        # Cached, since the same texts recur for every candidate and in many states.
        self._ids = lru_cache(maxsize=4096)(numbers)

    def pair(self, state: TextState, action: str) -> tuple[list[int], int]:
        """Token ids, and the start of the second segment."""
        first, second = fit(
            self._ids(state.possessions),
            self._ids(state.environment),
            self._ids(action),
            limit=self.limit - self._framing,
        )
        head = [*self.special.before, *first, *self.special.between]
        return [*head, *second, *self.special.after], len(head)

    def batch(self, pairs: Sequence[tuple[TextState, str]]) -> Batch:
        """Encode pairs in order."""
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
    """Token ids by a tokenizer of the library `tokenizers`."""
    return lambda text: tuple(tokenizer.encode(text, add_special_tokens=False).ids)


def special_of(tokenizer: Any, *, pad: int, types: bool) -> Special:
    """A tokenizer's special tokens of a pair, found by encoding one."""
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


# Encodes one state once, followed by many actions.
#
# `[CLS] state [SEP]`, then each action as its own segment, `[CLS] action [SEP]`. A state's
# tokens attend to the state; an action's tokens to the state and themselves. Positions of each
# segment continue from the state's last, so a rating depends only on the state
# and the action, not on other actions or their order. The thesis encodes
# each pair separately (§5.2.1); this costs a quarter to a tenth of that, and differs in that
# the state's tokens do not attend to the action.

#: Kinds of tokens; the index is the number.
PARTS = ("held", "cookbook", "environment", "action")
#: Tokens reserved for an action.
_ACTION = 32


@dataclass(frozen=True, slots=True)
class Shared:
    """A state with its actions; int64. `(tokens,)`: token ids; segments (0: the state, 1 …: the
    actions); kinds (`PARTS`); positions. heads: `(actions,)`, index of each action's `[CLS]`."""

    input_ids: NDArray[np.int64]
    segments: NDArray[np.int64]
    parts: NDArray[np.int64]
    position_ids: NDArray[np.int64]
    heads: NDArray[np.int64]


class SharedEncoder:
    """Encodes a state with all its actions. numbers: text → token ids (`numbers_by`). limit: most
    tokens of the state with one action."""

    def __init__(self, numbers: Numbers, special: Special, *, limit: int) -> None:
        self._special = special
        framing = len(special.before) + len(special.after)
        self._action_room = min(_ACTION, limit // 2) - framing
        self._state_room = limit - self._action_room - 2 * framing
        self._ids = lru_cache(maxsize=8192)(numbers)

    def state(self, state: TextState) -> tuple[list[int], list[int]]:
        """Token ids with special tokens, and the kind of each; a long environment is cut at its
        end."""
        held, cookbook = self._ids(state.inventory_summary), self._ids(state.cookbook)
        environment = self._ids(state.environment)
        first, _ = fit([*held, *cookbook], environment, (), limit=self._state_room)
        kinds = [0] * len(held) + [1] * len(cookbook) + [2] * len(environment)
        before, after = self._special.before, self._special.after
        kinds = [0] * len(before) + kinds[: len(first)] + [2] * len(after)
        return [*before, *first, *after], kinds

    def action(self, action: str) -> list[int]:
        """Token ids with special tokens."""
        ids = self._ids(action)[: self._action_room]
        return [*self._special.before, *ids, *self._special.after]

    def encode(self, state: TextState, actions: Sequence[str]) -> Shared:
        """Encode the actions in order."""
        ids, parts = self.state(state)
        end, heads = len(ids), []
        segments, positions = [0] * end, [*range(end)]
        for number, framed in enumerate(map(self.action, actions), start=1):
            heads.append(len(ids))
            ids += framed
            segments += [number] * len(framed)
            parts += [len(PARTS) - 1] * len(framed)
            positions += range(end, end + len(framed))
        return Shared(
            *(np.array(row, np.int64) for row in (ids, segments, parts, positions, heads))
        )


# BERT's uncased WordPiece tokenizer.
#
# Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
# Understanding", 2019, and the tokenization of its published code.

_LONGEST = 100
_ASCII_MARKS = r"!-/:-@\[-`{-~"


class WordPiece:
    """Reads a `tokenizer.json` of this type from the library `tokenizers`."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError`, `ValueError` or `KeyError` for another file type."""
        described = json.loads(path.read_text("utf-8"))
        model, normal = described["model"], described["normalizer"]
        if (model["type"], normal["type"], normal["lowercase"]) != (
            "WordPiece",
            "BertNormalizer",
            True,
        ):
            raise ValueError("not an uncased WordPiece tokenizer")
        self._vocabulary: dict[str, int] = model["vocab"]
        self._prefix: str = model["continuing_subword_prefix"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._pieces = lru_cache(maxsize=8192)(self._of_word)

    def numbers(self, text: str) -> tuple[int, ...]:
        """Token ids without special tokens."""
        return tuple(n for word in _words(text) for n in self._pieces(word))

    def _of_word(self, word: str) -> tuple[int, ...]:
        """Greedy longest-match pieces; the unknown token if there is no match."""
        if len(word) > _LONGEST:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else self._prefix + word[start:end]
                if (number := self._vocabulary.get(piece)) is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


def _words(text: str) -> list[str]:
    """Lower-case words without accents; punctuation and Chinese characters are separate words."""
    out = []
    for char in text:
        kind = unicodedata.category(char)
        if char in "\t\n\r" or kind == "Zs":
            out.append(" ")
        elif kind[0] != "C" and char not in "\0\ufffd":
            out.append(f" {char} " if _is_chinese(ord(char)) else char)
    plain = unicodedata.normalize("NFD", "".join(out))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn").lower()
    spaced = "".join(f" {char} " if _is_mark(char) else char for char in plain)
    return spaced.split()


def _is_mark(char: str) -> bool:
    return bool(re.match(f"[{_ASCII_MARKS}]", char)) or unicodedata.category(char)[0] == "P"


def _is_chinese(code: int) -> bool:
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2CEAF
        or 0x2F800 <= code <= 0x2FA1F
    )
