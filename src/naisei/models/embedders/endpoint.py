"""Embeddings from an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import threading
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from naisei import keys
from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.lengths import REPLY_STREAM
from naisei.models.base import Transient, Unreachable, Unusable, check_allowed
from naisei.models.connection import nobody_there
from naisei.models.pacing import RetryPolicy
from naisei.models.providers._api import API
from naisei.similarity import unit

_BATCH = 64
#: Most dimensions of a vector: five times the largest known.
_WIDEST = 20_000
_RETRIES = 5
_SECONDS = 60.0


class EndpointEmbedder:
    """A model behind an endpoint. Retries temporary failures (429, 5xx, a lost connection)
    with backoff; honours `Retry-After`.

    Args:
        model: its name at the endpoint.
        base_url: usually ends in `/v1`.
        retries: ≥ 0 per batch.
    """

    def __init__(self, model: str, base_url: str, *, retries: int = _RETRIES) -> None:
        self.name = f"openai-compatible:{model}@{base_url}"
        if not model or not base_url.startswith(("http://", "https://")):
            raise InputError(
                say(
                    "埋め込みの接続先にはモデル名と URL が要ります",
                    "an embeddings endpoint needs a model and a URL",
                ),
                place=self.name,
                remedy=say(
                    "openai-compatible:NAME@http://HOST:PORT/v1 の形で書いてください",
                    "write it as openai-compatible:NAME@http://HOST:PORT/v1",
                ),
            )
        self._model, self.base_url, self._retries = model, base_url, retries
        self._met = False  # whether it has ever answered
        self._most = _BATCH
        # Floats, since not every server supports base64.
        self._format: dict[str, Any] = {"encoding_format": "float"}
        key = keys.key("OPENAI_API_KEY", base_url) or "none"
        self._api = API(base_url, key, _SECONDS, most=REPLY_STREAM)
        # Connections belong to this loop; any thread submits to it.
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    @cached_property
    def dim(self) -> int:
        """Dimension of the endpoint's first vector; may cost a call."""
        return len(self.embed(["dimensions"])[0])

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), unit rows. The kind is not sent.

        Raises:
            InputError: the endpoint is unreachable, or refuses permanently (key, model, input).
            InstrumentFailure: no usable answer after retries.
            ModelCallForbidden: see `naisei.models.base.check_allowed`.
        """
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        check_allowed(cast(Any, self))
        try:
            rows = asyncio.run_coroutine_threadsafe(self._rows(texts), self._loop).result()
        except Unusable as error:
            raise self._refusal(error) from error
        except Transient as error:
            if isinstance(error, Unreachable) and not self._met:
                raise nobody_there(self.name, self.base_url, str(error)) from error
            raise InstrumentFailure(f"{self.base_url}: {error}") from error
        try:
            with np.errstate(over="ignore"):  # reported below
                out = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise InstrumentFailure(f"{self.base_url}: vectors of different lengths") from error
        if not np.isfinite(out).all() or not out.any(axis=1).all():
            raise InstrumentFailure(f"{self.base_url}: a vector without length")
        return unit(out)

    async def _rows(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = []
        while len(rows) < len(texts):
            rows += await self._batch(texts[len(rows) : len(rows) + self._most])
        return rows

    async def _batch(self, texts: list[str]) -> list[list[float]]:
        """Vectors of a batch, or of its largest accepted prefix. If even a single text is refused,
        the first error is raised."""
        refused: Transient | Unusable | None = None
        size = len(texts)
        while True:
            try:
                return await self._repeated(texts[:size])
            except (Transient, Unusable) as error:
                if not error.of_form or size == 1:
                    raise refused or error
                refused, size = refused or error, size // 2
                self._most = size

    async def _repeated(self, texts: list[str]) -> list[list[float]]:
        """Send one batch with retries. A refused batch of several texts is not resent: it may be
        too large."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._call(texts)
            except Transient as error:
                if attempt > self._retries or (len(texts) > 1 and error.of_form):
                    raise
                seconds = RetryPolicy().wait(attempt, error)
            await asyncio.sleep(seconds)

    async def _call(self, texts: list[str]) -> list[list[float]]:
        """Send one request. Rows without a valid index keep their order."""
        body = {"model": self._model, "input": texts, **self._format}
        try:
            reply = await self._api.call("embeddings", body)
        except Unusable as error:
            if not self._format or "encoding_format" not in str(error):
                raise
            self._format = {}
            return await self._call(texts)
        self._met = True
        try:
            data = reply["data"]
            if all(isinstance(row.get("index"), int) for row in data):
                data = sorted(data, key=lambda row: row["index"])
            rows = [row["embedding"] for row in data]
        except (AttributeError, KeyError, TypeError) as error:
            raise InstrumentFailure(f"{self.base_url}: no embeddings") from error
        if any(not isinstance(row, list) or not 0 < len(row) <= _WIDEST for row in rows):
            raise InstrumentFailure(f"{self.base_url}: no vectors of at most {_WIDEST} numbers")
        if len(rows) != len(texts):
            raise InstrumentFailure(f"{self.base_url}: {len(rows)} vectors for {len(texts)} texts")
        return rows

    def _refusal(self, error: Unusable) -> InputError:
        return InputError(
            say(f"接続先に拒否されました: {error}", f"the endpoint refuses: {error}"),
            place=self.name,
            remedy=error.remedy
            or say(
                "モデル名、URL、OPENAI_API_KEY、文書の長さを確かめてください",
                "check the model's name, the URL, OPENAI_API_KEY and the length of the texts",
            ),
        )
