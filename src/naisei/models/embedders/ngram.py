"""Hashed character n-grams: an embedder of a few lines that runs anywhere.

It sees shared characters, not meaning: 「のどが渇いた」 and 「水を飲む」 have nothing in common
for it. A fall-back and a baseline. Feature hashing with signs: Weinberger et al., ICML 2009.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["NgramEmbedder"]

_LENGTHS = (1, 2, 3)
_START, _END = "\x02", "\x03"


class NgramEmbedder:
    """`dim` signed buckets of the n-grams (n = 1–3) of the NFKC-folded, lower-cased text,
    weighted 1 + ln(count). Queries and passages are treated alike."""

    name = "ngram"

    def __init__(self, *, dim: int = 1024) -> None:
        """dim: ≥ 1."""
        if dim < 1:
            raise ValueError("dim must be at least 1")
        self.dim = dim

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), rows of length 1. The same in every process."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for gram, count in _grams(text).items():
                # crc32 and not hash(): that one differs from process to process.
                code = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                row[(code >> 1) % self.dim] += (1 if code & 1 else -1) * (1 + math.log(count))
            norm = float(np.linalg.norm(row))
            if norm == 0.0:
                row[0], norm = 1.0, 1.0
            row /= norm
        return out


def _grams(text: str) -> Counter[str]:
    folded = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    framed = f"{_START}{folded}{_END}"
    return Counter(framed[i : i + n] for n in _LENGTHS for i in range(len(framed) - n + 1))
