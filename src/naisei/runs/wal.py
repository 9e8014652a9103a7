"""The write-ahead log that a killed process left: whether SQLite will read all of it.

SQLite stops at the first frame whose checksum is wrong, without a word. A killed process leaves
none but a last one that is not whole; any other was damaged afterwards, and what follows it would
be lost. The format: sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import struct
from pathlib import Path

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
    order = ">" if magic & 1 else "<"
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
    """The checksum of SQLite, of pairs of words, modulo 2 ** 32."""
    a, b = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for x, y in zip(words, words, strict=True):
        a = (a + x + b) & 0xFFFFFFFF
        b = (b + y + a) & 0xFFFFFFFF
    return a, b
