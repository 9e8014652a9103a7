"""What an encoder that is not trained says of words: computed once for an input, then kept."""

from __future__ import annotations

import zipfile
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.encoders.opening import Encoder, open_encoder
from naisei.emphasis.taggers.neural.batches import lots, tensors
from naisei.emphasis.taggers.neural.inputs import Input
from naisei.lang import say

__all__ = ["States", "shared_states", "with_means"]

Halves = NDArray[np.float16]
#: Bytes that are kept at most: two million words of 384 numbers.
_ROOM = 1_600_000_000


class States:
    """The encoder's output at the first subword of each word, (words, width), rounded to
    float16. Kept by what the input reads, so that trainings on other folds share them."""

    def __init__(self, encoder: Encoder, *, device: str = "cpu", room: int = _ROOM) -> None:
        """room: bytes kept at most; what was not used for longest goes first."""
        self.encoder, self.device, self.room = encoder, device, room
        self._kept: OrderedDict[bytes, Halves] = OrderedDict()
        self._bytes = 0
        encoder.body.to(device).eval()

    def of(self, inputs: Sequence[Input]) -> list[Halves]:
        """In the order of the inputs."""
        keys = [each.digest for each in inputs]
        found = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: each for key, each in zip(keys, inputs, strict=True) if key not in found}
        own = list(missing.values())
        for lot in lots(own):
            for number, states in zip(lot, self._computed([own[i] for i in lot]), strict=True):
                found[own[number].digest] = states
                self._keep(own[number].digest, states)
        for key in keys:
            if key in self._kept:
                self._kept.move_to_end(key)
        return [found[key] for key in keys]

    def save(self, path: Path) -> None:
        """What is kept, for another process with the same encoder and layers."""
        keys = np.frombuffer(b"".join(self._kept), np.uint8).reshape(len(self._kept), -1)
        lengths = np.array([len(states) for states in self._kept.values()], np.int64)
        width = self.encoder.width
        states = np.concatenate([np.zeros((0, width), np.float16), *self._kept.values()])
        scratch = path.with_name(f".{path.name}.tmp")
        with scratch.open("wb") as file:
            np.savez(file, keys=keys, lengths=lengths, states=states)
        scratch.replace(path)

    def restore(self, path: Path) -> None:
        """What `save` wrote, beside what is there.

        Raises:
            InputError: the file is none of those, or of another encoder.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                keys, lengths, states = file["keys"], file["lengths"], file["states"]
            if states.shape != (lengths.sum(), self.encoder.width) or len(keys) != len(lengths):
                raise ValueError(f"states of shape {states.shape}")
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                say(f"エンコーダーの出力ではありません: {error}", f"no states: {error}"),
                place=str(path),
            ) from error
        ends = np.cumsum(lengths)
        for key, end, length in zip(keys, ends, lengths, strict=True):
            self._keep(key.tobytes(), states[end - length : end])

    def _keep(self, key: bytes, states: Halves) -> None:
        if key in self._kept:
            return
        self._kept[key] = states
        self._bytes += states.nbytes
        while self._bytes > self.room and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes

    def _computed(self, inputs: Sequence[Input]) -> list[Halves]:
        import torch

        batch = tensors(inputs, pad=self.encoder.subwords.pad, device=self.device)
        with torch.inference_mode():
            states = self.encoder.body(
                input_ids=batch.ids, attention_mask=batch.attended.long()
            ).last_hidden_state
            own = states.gather(1, batch.firsts[:, :, None].expand(-1, -1, states.shape[2]))
        rows: Halves = own.half().cpu().numpy()
        # Copies: a view would keep its whole batch alive.
        return [row[: len(each.labels)].copy() for row, each in zip(rows, inputs, strict=True)]


def with_means(states: Halves, each: Input) -> NDArray[np.float32]:
    """Beside each word's state the mean of its sentence's: (words, 2 × width)."""
    own = states.astype(np.float32)
    means = np.empty_like(own)
    numbers = np.array([sentence for sentence, _ in each.places])
    for number in np.unique(numbers):
        here = numbers == number
        means[here] = own[here].mean(0)
    return np.concatenate([own, means], 1)


@lru_cache(maxsize=2)
def shared_states(encoder: str, layers: int | None, device: str) -> States:
    """One for the whole process."""
    return States(open_encoder(encoder, layers=layers), device=device)
