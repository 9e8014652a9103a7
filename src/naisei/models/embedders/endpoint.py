"""Embeddings of an OpenAI-compatible endpoint."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from naisei import keys
from naisei.core import InputError, InstrumentFailure, NaiseiError
from naisei.lang import say
from naisei.models.base import Unreachable, check_allowed
from naisei.similarity import unit

_BATCH = 64
#: What endpoints answer to more texts, or longer ones, than they take at a time.
_TOO_MUCH = {400, 413, 422, 500}
#: Numbers of a vector: five times the widest that are known.
_WIDEST = 20_000
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

        from naisei.models.providers._environment import check_environment

        self.name = f"openai-compatible:{model}@{base_url}"
        self._model, self.base_url = model, base_url
        self._met = False  # whether it has ever answered
        self._most = _BATCH
        # Floats, since not every server knows base64.
        self._format: dict[str, Any] = {"encoding_format": "float"}
        check_environment(base_url)
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
            InputError: the endpoint was never there, or refuses for good (key, model, input).
            InstrumentFailure: no usable answer after retries.
            ModelCallForbidden: see `naisei.models.base.check_allowed`.
        """
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        rows: list[list[float]] = []
        while len(rows) < len(texts):
            rows += self._batch(texts[len(rows) : len(rows) + self._most])
        try:
            with np.errstate(over="ignore"):  # told below
                out = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise InstrumentFailure(f"{self.base_url}: vectors of different lengths") from error
        if not np.isfinite(out).all() or not out.any(axis=1).all():
            raise InstrumentFailure(f"{self.base_url}: a vector without length")
        return unit(out)

    def _batch(self, texts: list[str]) -> list[list[float]]:
        """Vectors of a batch, or of as large a beginning of it as the endpoint takes; that is the
        size from then on. What it refuses of a single text too is raised as it came first."""
        refused: NaiseiError | None = None
        size = len(texts)
        while True:
            try:
                rows = self._call(texts[:size])
            except _Refused as error:
                refused = refused or error.told
                if size == 1:
                    raise refused from error
                size //= 2
            else:
                if size < len(texts):
                    self._most = size
                return rows

    def _call(self, texts: list[str]) -> list[list[float]]:
        import openai

        from naisei.models.connection import nobody_there
        from naisei.models.providers._endpoint import of_connection, short

        check_allowed(cast(Any, self))
        several = len(texts) > 1
        try:
            # A batch that may be too large is not sent again as it is.
            client = self._client.with_options(max_retries=0) if several else self._client
            try:
                rows = self._vectors(client, texts)
            except (
                openai.RateLimitError,
                openai.APIConnectionError,
                openai.InternalServerError,
            ) as e:
                if not several or getattr(e, "status_code", 429) in _TOO_MUCH:
                    raise
                rows = self._vectors(self._client, texts)
        except openai.APIConnectionError as error:
            failure = of_connection(error)
            if isinstance(failure, Unreachable) and not self._met:
                raise nobody_there(self.name, self.base_url, str(failure)) from error
            raise InstrumentFailure(f"{self.base_url}: {failure}") from error
        except openai.APIStatusError as error:
            said = f"HTTP {error.status_code}: {short(error.response.text)}"
            told = self._refusal(said)
            if error.status_code >= 500 or error.status_code == 429:
                told = InstrumentFailure(f"{self.base_url}: {said}")
            raise (_Refused(told) if error.status_code in _TOO_MUCH else told) from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise InstrumentFailure(f"{self.base_url}: {error}") from error
        self._met = True
        if any(not isinstance(row, list) or not 0 < len(row) <= _WIDEST for row in rows):
            raise InstrumentFailure(f"{self.base_url}: no vectors of at most {_WIDEST} numbers")
        if len(rows) != len(texts):
            raise InstrumentFailure(f"{self.base_url}: {len(rows)} vectors for {len(texts)} texts")
        return rows

    def _vectors(self, client: Any, texts: list[str]) -> list[Any]:
        """One request. Rows without a usable number stand as they were sent."""
        import openai

        from naisei.models.providers._endpoint import no_api

        try:
            # Not by `embeddings.create`, which asks for base64 where no format is given.
            body = {"model": self._model, "input": texts, **self._format}
            kind = openai.types.CreateEmbeddingResponse
            reply = client.post("/embeddings", body=body, cast_to=kind)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not self._format or "encoding_format" not in error.response.text:
                raise
            self._format = {}
            return self._vectors(client, texts)
        if isinstance(reply, str) and (page := no_api(200, reply, None)) is not None:
            raise InputError(str(page), place=self.base_url, remedy=page.remedy)
        places = [getattr(row, "index", None) for row in reply.data]
        numbered = all(isinstance(place, int) for place in places)
        rows = sorted(reply.data, key=lambda row: row.index) if numbered else reply.data
        return [row.embedding for row in rows]

    def _refusal(self, said: str) -> NaiseiError:
        return InputError(
            say(f"接続先に拒否されました: {said}", f"the endpoint refuses: {said}"),
            place=self.name,
            remedy=say(
                "モデル名、URL、OPENAI_API_KEY、文書の長さを確かめてください",
                "check the model's name, the URL, OPENAI_API_KEY and the length of the texts",
            ),
        )


class _Refused(Exception):
    """Perhaps too many texts at a time. told: what to raise if it is not that."""

    def __init__(self, told: NaiseiError) -> None:
        super().__init__(str(told))
        self.told = told
