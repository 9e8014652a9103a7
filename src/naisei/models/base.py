"""What a language model and an embedder are to naisei: two small protocols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from naisei.core import Message, Sampling

__all__ = [
    "BadReply",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Embedder",
    "Schema",
    "Transient",
    "Unusable",
]


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON schema that a reply must satisfy, with a name for the endpoint."""

    name: str
    json: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to an endpoint, as the provider sends it.

    mode: how structure is asked for. `json_schema`: the endpoint enforces the schema;
    `json_object`: it enforces JSON, the schema is in the prompt; `prompt`: nothing is
    enforced; `None` with `schema=None`: plain text.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: Schema | None = None
    mode: Literal["json_schema", "json_object", "prompt"] | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. finish_reason: `stop`, `length`, `content_filter`, … as the field says it."""

    text: str
    finish_reason: str | None = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""


class ChatModel(Protocol):
    """A language model behind an endpoint. One attempt per call; retries are the gateway's."""

    #: `provider:name`, as the user wrote it.
    name: str

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request.

        Raises:
            Transient: worth another try (429, 5xx, cut connection, time-out, broken body).
            Unusable: no try will help (no key, unknown model, refused parameters).
        """
        ...

    async def aclose(self) -> None: ...


class Transient(Exception):
    """A failure that may pass. `retry_after` is the endpoint's wish in seconds, if it gave one."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BadReply(Transient):
    """The endpoint answered, but with something cut off or unreadable."""


class Unusable(Exception):
    """The endpoint refuses for good. `mode_refused`: it rejected the way structure was asked for."""

    def __init__(self, message: str, *, mode_refused: bool = False) -> None:
        super().__init__(message)
        self.mode_refused = mode_refused


class Embedder(Protocol):
    """Texts to unit vectors."""

    name: str

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), float32, each row of length 1. An empty list gives (0, dim)."""
        ...
