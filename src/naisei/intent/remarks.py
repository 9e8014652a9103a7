"""Classifies remarks: a ridge regression on vector and letters, trained on the bundled data
(`naisei/data/understanding`, `tools/train_understanding.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from zlib import crc32

import numpy as np
import numpy.typing as npt

from naisei.intent.worries import certain, words
from naisei.intent.worries import worry_kind as told_by_words
from naisei.japanese.morph import normalise

Vectors = npt.NDArray[np.float64]
#: Number of hashed features for 1- to 3-letter n-grams.
_LETTERS = 4096
#: Thresholds for an emergency without and with supporting words.
_SURE, _LIKELY = 0.55, 0.25
#: With supporting words, an emergency's score may be this much below the highest.
_NEAR = 0.05
#: Worries with public hotlines, by predicted sort.
EMERGENCIES = {"ambulance": "accident", "police": "violence"}


def sorts(said: str, vector: npt.NDArray[np.float32]) -> dict[str, float]:
    """Return independent scores, 0 to 1, of a remark for each of twelve sorts.

    vector: of the remark; shape (dim,)."""
    names, matrix, mean = _weights()
    scores = matrix @ features([said], vector[None], mean)[0]
    return dict(zip(names, np.round(scores.clip(0, 1), 4).tolist(), strict=True))


def centred(vectors: npt.NDArray[np.float32]) -> Vectors:
    """Vectors centred on the training mean and scaled to length 1; shape (texts, dim)."""
    return _scaled(vectors, _weights()[2])


def number_to_call(said: str, shares: Mapping[str, float], language: str) -> str:
    """The emergency number if a life may be at stake, else "". shares: of `sorts`; sorts other than
    emergencies may be omitted."""
    named, worry = told_by_words(said), certain(said)
    sort = max(EMERGENCIES, key=lambda name: shares[name])
    sure, near = (_LIKELY, _NEAR) if named else (_SURE, 0.0)
    if worry is None and shares[sort] >= max(sure, max(shares.values()) - near):
        known = named is not None and named.call
        worry = named if known else words().kinds[EMERGENCIES[sort]]  # type: ignore[index]
    return worry.call.get(language, "") if worry is not None else ""


def features(
    texts: list[str], vectors: npt.NDArray[np.float32], mean: npt.NDArray[np.float32]
) -> Vectors:
    """Input features of the regression; shape (texts, dim + letters + 1), the last column the
    constant.

    vectors: of the texts; shape (texts, dim). mean: of the training vectors; shape (dim,).
    """
    letters = np.zeros((len(texts), _LETTERS))
    for row, text in zip(letters, texts, strict=True):
        plain = f"^{normalise(text).lower().rstrip('。.!！?？')}$"
        for n in (1, 2, 3):
            for at in range(len(plain) - n + 1):
                row[crc32(plain[at : at + n].encode()) % _LETTERS] = 1
    letters /= np.linalg.norm(letters, axis=1, keepdims=True)
    return np.hstack([_scaled(vectors, mean), letters, np.ones((len(texts), 1))])


def _scaled(vectors: npt.NDArray[np.float32], mean: npt.NDArray[np.float32]) -> Vectors:
    moved = vectors.astype(np.float64) - mean
    scaled: Vectors = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return scaled


@lru_cache(maxsize=1)
def _weights() -> tuple[list[str], Vectors, npt.NDArray[np.float32]]:
    """The sorts, the matrix (sorts, features) and the mean (dim,)."""
    found = files("naisei.data") / "understanding" / "weights.npz"
    with found.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        return kept["names"].tolist(), kept["matrix"].astype(np.float64), kept["mean"]
