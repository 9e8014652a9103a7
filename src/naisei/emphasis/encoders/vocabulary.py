"""Which pieces of a multilingual vocabulary a Japanese text can ever use."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPACE", "japanese_pieces"]

#: Stands for a space within pieces.
SPACE = "▁"
#: Kana, kana extensions, ideographs with their extensions, and marks of Japanese typography.
_RANGES = (
    (0x3000, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF), (0x20000, 0x323AF),
)  # fmt: skip


def japanese_pieces(pieces: Sequence[str], special: Sequence[int]) -> NDArray[np.int64]:
    """Numbers of the pieces written in kana, ideographs, ASCII, digits, marks and symbols only,
    and of the special ones, in order.

    A text of such characters is cut into the same pieces as with the whole vocabulary, since no
    other piece ever fits it.
    """
    kept = {
        number
        for number, piece in enumerate(pieces)
        if piece and all(_written(character) for character in piece)
    }
    return np.array(sorted(kept | set(special)), np.int64)


def _written(character: str) -> bool:
    code = ord(character)
    if character == SPACE or code < 0x80 or any(a <= code <= b for a, b in _RANGES):
        return True
    return unicodedata.category(character)[0] in "PSNZ"
