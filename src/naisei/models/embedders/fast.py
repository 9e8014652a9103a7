"""Static vectors of word pieces, distilled from multilingual-e5-small: no network is run.

A text's vector is the weighted sum of those of its pieces, so word order is lost, but it embeds
thousands of texts per core-second. Runs wherever numpy does. Distilling: Tulkens & van Dongen,
Model2Vec, 2024. Weights: Arora, Liang & Ma, A Simple but Tough-to-Beat Baseline for Sentence
Embeddings, ICLR 2017. How the file was made: `tools/fast_embedder.py`.
"""

from __future__ import annotations

import json
import threading
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from naisei.models.embedders.unigram import Unigram
from naisei.similarity import unit

_LOCK = threading.Lock()
#: Of a text; a longer one's remaining characters are not read.
_CHARACTERS = 8_000


class _Pieces:
    """The tokenizer, and each piece's vector in 8 bits with its scale."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        hashes = np.load(folder / "hashes.npy", mmap_mode="r")
        self.cutter = Unigram(
            hashes,
            np.arange(len(hashes), dtype=np.int32),
            np.load(folder / "scores.npy"),
            unknown=len(hashes),
            longest=about["longest"],
            normalised=about["normalised"],
        )
        self.vectors: npt.NDArray[np.int8] = np.load(folder / "vectors.npy", mmap_mode="r")
        scales: npt.NDArray[np.float32] = np.load(folder / "scales.npy")
        self.scales = np.append(scales, np.float32(0))  # of a piece that is not known


@cache
def _vocabulary() -> _Pieces:
    with as_file(files("naisei") / "data" / "fast_embedder") as folder:
        return _Pieces(folder)


class FastEmbedder:
    """The same vector whatever the batch and the process; queries and passages are treated alike.
    A text none of whose pieces is known gets the first unit vector."""

    name = "fast"

    @property
    def dim(self) -> int:
        with _LOCK:
            return int(_vocabulary().vectors.shape[1])

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), rows of length 1."""
        with _LOCK:
            own = _vocabulary()
        out = np.zeros((len(texts), own.vectors.shape[1]), np.float32)
        cut = own.cutter.cut([text[:_CHARACTERS] for text in texts])
        for row, numbers in zip(out, cut, strict=True):
            known = [n for n in numbers if n < len(own.vectors)]
            row[:] = (own.scales[known, None] * own.vectors[known]).sum(axis=0)
            if not row.any():
                row[0] = 1.0
        return unit(out)
