"""Inputs as tensors, and the order in which a training sees them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.taggers.neural.inputs import Input
from naisei.emphasis.taggers.neural.plan import NeuralPlan

__all__ = ["Batch", "epoch_of", "lots", "tensors"]

#: Batches whose inputs are sorted by length together: enough that little is padded.
_POOL = 32


@dataclass(frozen=True, slots=True)
class Batch:
    """Torch tensors of B inputs of at most T subwords, U units and W words.

    ids, attended: (B, T). unit_of: (B, T), the unit of each subword, U for padding. firsts:
    (B, W), where the subword is that stands for each word. labels, counted: (B, W).
    words, units: (B,).
    states: (B, W, 2 × width) as `states.with_means` has them, or None.
    """

    ids: Any
    attended: Any
    unit_of: Any
    firsts: Any
    labels: Any
    counted: Any
    words: Any
    units: Any
    states: Any = None


def tensors(
    inputs: Sequence[Input],
    *,
    pad: int,
    device: str,
    states: Sequence[NDArray[np.float32]] | None = None,
) -> Batch:
    """A batch on a device. states: of each input's words."""
    import torch

    rows = len(inputs)
    most = max(each.size for each in inputs)
    units = max(len(each.pieces) for each in inputs)
    words = max(1, *(len(each.labels) for each in inputs))
    ids = np.full((rows, most), pad, np.int64)
    unit_of = np.full((rows, most), units, np.int64)
    firsts = np.zeros((rows, words), np.int64)
    labels, counted = np.zeros((rows, words), np.int64), np.zeros((rows, words), bool)
    for row, each in enumerate(inputs):
        own = [piece for unit in each.pieces for piece in unit]
        lengths = [len(unit) for unit in each.pieces]
        n = len(each.labels)
        ids[row, : len(own)] = own
        unit_of[row, : len(own)] = np.repeat(np.arange(len(lengths)), lengths)
        firsts[row, :n] = (np.cumsum(lengths) - lengths)[1 : n + 1] + each.leads
        labels[row, :n], counted[row, :n] = each.labels, each.counted
    given = None
    if states is not None:
        whole = np.zeros((rows, words, states[0].shape[1]), np.float32)
        for place, own_states in zip(whole, states, strict=True):
            place[: len(own_states)] = own_states
        given = torch.from_numpy(whole).to(device)
    to = [torch.from_numpy(a).to(device) for a in (ids, unit_of, firsts, labels)]
    sizes = torch.tensor([each.size for each in inputs], device=device)
    attended = torch.arange(most, device=device)[None, :] < sizes[:, None]
    return Batch(
        to[0], attended, to[1], to[2], to[3],
        torch.from_numpy(counted).to(device),
        torch.tensor([len(each.labels) for each in inputs], device=device),
        torch.tensor([len(each.pieces) for each in inputs], device=device),
        given,
    )  # fmt: skip


def epoch_of(inputs: Sequence[Input], plan: NeuralPlan, seed: int, epoch: int) -> list[list[int]]:
    """Batches of an epoch, as numbers of inputs: the same for the same seed. Inputs without
    emphasis are drawn anew each time (`plan.plain`); inputs of like length lie together."""
    rng = random.Random(f"{seed}/{epoch}")
    drawn = [
        number
        for number, each in enumerate(inputs)
        if each.emphasised or plan.plain >= 1 or rng.random() < plan.plain
    ]
    rng.shuffle(drawn)
    out: list[list[int]] = []
    for start in range(0, len(drawn), _POOL * plan.batch):
        pool = drawn[start : start + _POOL * plan.batch]
        pool.sort(key=lambda number: inputs[number].size)
        made = [pool[i : i + plan.batch] for i in range(0, len(pool), plan.batch)]
        rng.shuffle(made)
        out += made
    return out


def lots(inputs: Sequence[Input], *, subwords: int = 4096) -> list[list[int]]:
    """Numbers of inputs to be tagged at once, of like length, with at most so many subwords
    with their padding, or a single input."""
    out: list[list[int]] = []
    for number in sorted(range(len(inputs)), key=lambda i: (inputs[i].size, i)):
        if not out or (len(out[-1]) + 1) * inputs[number].size > subwords:
            out.append([])
        out[-1].append(number)
    return out
