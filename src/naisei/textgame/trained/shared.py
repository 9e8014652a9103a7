"""Many actions after one state, which the encoder reads once for all of them.

`[CLS] state [SEP]`, then each action as a segment of its own, `[CLS] action [SEP]`. A state's
tokens see the state; an action's see the state and themselves, never another action. Every
segment is numbered on from the state's last position. So what an action is rated depends on the
state and on the action alone, not on which others are there, nor on their order. In the thesis
each pair is read by itself (§5.2.1); this costs a quarter to a tenth of it, and differs in that
the state's tokens do not see the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from naisei.textgame.trained.model_dir import Special
from naisei.textgame.trained.pairs import Numbers
from naisei.textgame.trained.situation import Situation, fit

__all__ = ["PARTS", "SHARED_INPUTS", "Shared", "SharedEncoder"]

#: What the network takes, in order.
SHARED_INPUTS = ("input_ids", "segments", "parts", "position_ids", "heads")
#: Kinds of token, numbered in this order.
PARTS = ("held", "cookbook", "environment", "action")
#: Tokens kept free for an action, whichever actions there are.
_ACTION = 32


@dataclass(frozen=True, slots=True)
class Shared:
    """All int64. The first four are `(states, tokens)`: token numbers; -1 padding, 0 the state,
    1 … the actions; kinds (`PARTS`); positions. heads: `(states, actions)`, where each action's
    `[CLS]` is (0 for an action that only pads). counts: actions of each state."""

    input_ids: NDArray[np.int64]
    segments: NDArray[np.int64]
    parts: NDArray[np.int64]
    position_ids: NDArray[np.int64]
    heads: NDArray[np.int64]
    counts: tuple[int, ...]

    def named(self) -> dict[str, NDArray[np.int64]]:
        """The arrays by name, as `SHARED_INPUTS`."""
        return {name: getattr(self, name) for name in SHARED_INPUTS}


class SharedEncoder:
    """numbers: of a text's tokens, see `numbers_by`. limit: tokens of a state with one action."""

    def __init__(self, numbers: Numbers, special: Special, *, limit: int) -> None:
        self._special = special
        framing = len(special.before) + len(special.after)
        self._action_room = min(_ACTION, limit // 2) - framing
        self._state_room = limit - self._action_room - 2 * framing
        self._ids = lru_cache(maxsize=8192)(numbers)

    def state(self, situation: Situation) -> tuple[list[int], list[int]]:
        """Framed, and the kind of each token; the end of the environment goes first where it is
        too long."""
        held, cookbook = self._ids(situation.held), self._ids(situation.cookbook)
        environment = self._ids(situation.environment)
        first, _ = fit([*held, *cookbook], environment, (), limit=self._state_room)
        kinds = [0] * len(held) + [1] * len(cookbook) + [2] * len(environment)
        before, after = self._special.before, self._special.after
        kinds = [0] * len(before) + kinds[: len(first)] + [2] * len(after)
        return [*before, *first, *after], kinds

    def action(self, action: str) -> list[int]:
        """Framed."""
        ids = self._ids(action)[: self._action_room]
        return [*self._special.before, *ids, *self._special.after]

    def batch(self, groups: Sequence[tuple[Situation, Sequence[str]]]) -> Shared:
        """States in order, each with its actions in order."""
        rows = [(*self.state(s), [*map(self.action, actions)]) for s, actions in groups]
        longest = max(len(state) + sum(map(len, actions)) for state, _, actions in rows)
        shape = (len(rows), longest)
        ids = np.full(shape, self._special.pad, np.int64)
        segments, positions = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        parts = np.full(shape, len(PARTS) - 1, np.int64)
        heads = np.zeros((len(rows), max(len(actions) for _, _, actions in rows)), np.int64)
        for row, (state, kinds, actions) in enumerate(rows):
            at = len(state)
            ids[row, :at], segments[row, :at], parts[row, :at] = state, 0, kinds
            positions[row, :at] = np.arange(at)
            for number, action in enumerate(actions):
                end = at + len(action)
                ids[row, at:end], segments[row, at:end] = action, number + 1
                positions[row, at:end] = np.arange(len(state), len(state) + len(action))
                heads[row, number] = at
                at = end
        counts = tuple(len(actions) for _, _, actions in rows)
        return Shared(ids, segments, parts, positions, heads, counts)
