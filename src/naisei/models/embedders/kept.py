"""An embedder that keeps its vectors on disk: what an agent prepares, it prepares once.

Descriptions of actions and questions are the same in every run; embedding them takes
longer than a small run itself.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from naisei.core import InputError, fingerprint
from naisei.models.base import Embedder
from naisei.models.cache import ReplyCache
from naisei.models.local.weights import cache_root

__all__ = ["KeptEmbedder"]


class KeptEmbedder:
    """`inner`, with vectors kept by (embedder, kind, text) in the user's cache.

    Only for texts that come back: an episode's own texts would fill the disk. Where the
    cache cannot be written, nothing is kept.
    """

    def __init__(self, inner: Embedder, path: Path | None = None) -> None:
        """path: of the data base; `embeddings.sqlite` in the user's cache by default."""
        self.inner, self.name = inner, inner.name
        try:
            self._kept: ReplyCache | None = ReplyCache(path or cache_root() / "embeddings.sqlite")
        except InputError:
            self._kept = None  # a read-only home is no reason not to run

    @property
    def dim(self) -> int:
        return self.inner.dim

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), float32, rows of length 1."""
        if self._kept is None or not texts:
            return self.inner.embed(texts, kind)
        keys = [fingerprint([self.name, kind, text]) for text in texts]
        found = [self._kept.get(key) for key in keys]
        missing = list(dict.fromkeys(t for t, hit in zip(texts, found, strict=True) if not hit))
        fresh = dict(zip(missing, self.inner.embed(missing, kind), strict=True)) if missing else {}
        rows = []
        for key, text, hit in zip(keys, texts, found, strict=True):
            if hit is None:
                row = np.ascontiguousarray(fresh[text], dtype="<f4")
                self._kept.put(key, base64.b64encode(row.tobytes()).decode("ascii"))
            else:
                row = np.frombuffer(base64.b64decode(str(hit[0])), dtype="<f4")
            rows.append(row)
        return np.stack(rows)
