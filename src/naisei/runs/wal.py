"""The write-ahead log that a killed process left: whether SQLite will read all of it.

SQLite stops at the first frame whose checksum is wrong, without a word. A killed process leaves
none but a last one that is not whole; any other was damaged afterwards, and what follows it would
be lost. The format: sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import Any

from naisei.files import plain_file
from naisei.lang import say

_HEADER, _FRAME = 32, 24


def torn(path: Path) -> str:
    """What is damaged in a WAL, in words; empty if nothing is, or if there is none."""
    plain_file(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    if len(data) <= _HEADER:
        return ""
    magic, _, page, _, *salts, one, two = struct.unpack(">8I", data[:_HEADER])
    order = ">u4" if magic & 1 else "<u4"
    sums = _summed(data[: _HEADER - 8], order, (0, 0))
    if magic | 1 != 0x377F0683 or sums != (one, two) or page not in (1 << n for n in range(9, 17)):
        return say("先頭が壊れています", "its beginning is damaged")
    size = _FRAME + page
    frames = range(_HEADER, len(data) - size + 1, size)
    for number, at in enumerate(frames, 1):
        frame = data[at : at + size]
        *head, one, two = struct.unpack(">6I", frame[:_FRAME])
        sums = _summed(frame[:8], order, sums)
        sums = _summed(frame[_FRAME:], order, sums)
        if head[2:] == salts and sums == (one, two):
            continue
        if any(_ours(data[n : n + _FRAME], salts) for n in frames[number - 1 :]):
            return say(
                f"{len(frames)} のうち {number} 番目から後が読めません",
                f"{len(frames) - number + 1} of its {len(frames)} pages cannot be read",
            )
        break  # of before the last checkpoint
    return ""


def _ours(head: bytes, salts: list[int]) -> bool:
    """Whether a frame is of the same WAL as its beginning, give or take a damaged bit."""
    mine = struct.unpack(">6I", head)[2:4]
    return bool(mine[0] == salts[0] or mine[1] == salts[1])


def _summed(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """The checksum of SQLite: for each two words x, y: a += x + b; b += y + a, modulo 2 ** 32."""
    import numpy as np

    words = np.frombuffer(data, order).astype(np.uint32)
    weights, ahead = _weights(len(words))
    a, b = (int(n) for n in words @ weights)
    (aa, ab), (ba, bb) = ahead
    return (
        (a + aa * sums[0] + ab * sums[1]) & 0xFFFFFFFF,
        (b + ba * sums[0] + bb * sums[1]) & 0xFFFFFFFF,
    )


@cache
def _weights(words: int) -> tuple[Any, list[list[int]]]:
    """How often each word counts in both sums, and how often the sums of before do."""
    import numpy as np

    weights = np.zeros((words, 2), np.uint32)
    aa, ab, ba, bb = 1, 0, 0, 1  # of the sums before a pair, in those at the end
    for at in range(words - 2, -1, -2):
        # b' = b + y + a', a' = a + x + b
        weights[at + 1] = ab, bb
        weights[at] = (aa + ab) & 0xFFFFFFFF, (ba + bb) & 0xFFFFFFFF
        aa, ab, ba, bb = (n & 0xFFFFFFFF for n in (aa + ab, aa + 2 * ab, ba + bb, ba + 2 * bb))
    return weights, [[aa, ab], [ba, bb]]
