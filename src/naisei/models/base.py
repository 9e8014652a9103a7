"""What a language model and an embedder are to naisei: two small protocols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from naisei.core import Message, Sampling

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "BadReply",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Embedder",
    "Mode",
    "Schema",
    "Transient",
    "Unreachable",
    "Unusable",
]

#: How structure is asked for; see `ChatRequest`.
Mode = Literal["json_schema", "json_object", "prompt"]


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
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. finish_reason: `stop`, `length`, `content_filter`, … as the field says it."""

    text: str
    finish_reason: str | None = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""


class ChatModel(Protocol):
    """A language model behind an endpoint. One attempt per call; retries are the gateway's.

    A model may also have: `base_url` (str), its endpoint; `offline = True`, it calls nobody
    and so is allowed where model calls are forbidden; `free = True`, its price is known to
    be zero; `modes` (tuple of `Mode`), the ways of asking for structure that it takes, best
    first; `base_sampling` (`Sampling`), for what nobody else sets; `notice` (a pair of texts,
    Japanese and English), what has to be printed next to its figures.
    """

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


class Unreachable(Transient):
    """No connection came about: nobody listens there, or the name does not resolve."""


class Unusable(Exception):
    """The endpoint refuses for good. `mode_refused`: it rejected the way structure was asked for.

    hopeless: it would refuse any other request too (a wrong key, an unknown model, no credit).
    """

    def __init__(self, message: str, *, mode_refused: bool = False, hopeless: bool = False) -> None:
        super().__init__(message)
        self.mode_refused, self.hopeless = mode_refused, hopeless


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
