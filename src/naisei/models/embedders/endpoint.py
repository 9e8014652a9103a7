"""Any OpenAI-compatible `/v1/embeddings` endpoint."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from naisei import keys
from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.models.forbid import check_allowed

__all__ = ["EndpointEmbedder"]

_BATCH = 64
_RETRIES = 5
_SECONDS = 60.0


class EndpointEmbedder:
    """A model behind an endpoint. Calls that fail for a while (429, 5xx, a cut connection)
    are repeated with backoff; `Retry-After` is honoured.

    Args:
        model: its name at the endpoint.
        base_url: ends in `/v1` as a rule.
        api_key: `OPENAI_API_KEY` by default; endpoints without keys ignore it.
        retries: ≥ 0 per batch.
    """

    def __init__(
        self, model: str, base_url: str, *, api_key: str | None = None, retries: int = _RETRIES
    ) -> None:
        if not model or not base_url.startswith(("http://", "https://")):
            raise InputError(
                say(
                    "埋め込みの接続先にはモデル名と URL が要ります",
                    "an embeddings endpoint needs a model and a URL",
                ),
                place=f"openai-compatible:{model}@{base_url}",
                remedy=say(
                    "openai-compatible:NAME@http://HOST:PORT/v1 の形で書いてください",
                    "write it as openai-compatible:NAME@http://HOST:PORT/v1",
                ),
            )
        # Takes a second to import, which the other embedders should not cost.
        import openai

        self.name = f"openai-compatible:{model}@{base_url}"
        self._model, self.base_url = model, base_url
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or keys.key("OPENAI_API_KEY", base_url) or "none",
            max_retries=retries,
            timeout=_SECONDS,
        )

    @cached_property
    def dim(self) -> int:
        """As the endpoint's first vector has it: asking may cost a call."""
        return len(self._call(["dimensions"])[0])

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), rows of length 1. The endpoint is not told the kind.

        Raises:
            InputError: the endpoint refuses for good (key, model, input).
            InstrumentFailure: no usable answer after retries.
            ModelCallForbidden: see `naisei.models.forbid`.
        """
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            rows += self._call(texts[start : start + _BATCH])
        try:
            out = np.asarray(rows, dtype=np.float32)
        except ValueError as error:
            raise InstrumentFailure(f"{self.base_url}: vectors of different lengths") from error
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms) & (norms > 0)):
            raise InstrumentFailure(f"{self.base_url}: a vector without length")
        unit: npt.NDArray[np.float32] = out / norms
        return unit

    def _call(self, texts: list[str]) -> list[list[float]]:
        import openai

        check_allowed(cast(Any, self))
        try:
            # Floats, since not every server knows base64.
            reply = self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            rows = [row.embedding for row in sorted(reply.data, key=lambda row: row.index)]
        except (openai.RateLimitError, openai.InternalServerError) as error:
            raise InstrumentFailure(f"{self.base_url}: {error}") from error
        except openai.APIStatusError as error:
            raise InputError(
                say(
                    f"接続先に拒否されました: {error.message}",
                    f"the endpoint refuses: {error.message}",
                ),
                place=self.name,
                remedy=say(
                    "モデル名、URL、OPENAI_API_KEY を確かめてください",
                    "check the model's name, the URL and OPENAI_API_KEY",
                ),
            ) from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise InstrumentFailure(f"{self.base_url}: {error}") from error
        if len(rows) != len(texts):
            raise InstrumentFailure(f"{self.base_url}: {len(rows)} vectors for {len(texts)} texts")
        return rows
