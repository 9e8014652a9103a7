"""Protocols of language models and embedders, endpoint settings, and the switch that forbids
calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from pydantic import JsonValue

from naisei import keys
from naisei.core import InputError, Message, ModelCallForbidden, Sampling
from naisei.lang import say

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Ways to request structured output; see `ChatRequest`.
Mode = Literal["json_schema", "json_object", "prompt"]


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON schema that a reply must satisfy, with a name for the endpoint."""

    name: str
    json: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to an endpoint, as the provider sends it. mode: how structured output is
    requested. `json_schema`: the endpoint enforces the schema; `json_object`: it enforces JSON, the
    schema is in the prompt; `prompt`: nothing is enforced; `None` with `schema=None`: plain text.
    role, at: who is asked, and the episode and step; shown to a person who answers, not sent.
    on_text: called with the reply's text so far by streaming providers; a resent reply starts
    again.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: Schema | None = None
    mode: Mode | None = None
    role: str = ""
    at: str = ""
    on_text: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    def body(self) -> dict[str, Any]:
        """The body for OpenAI's chat completions, without the model name; used in golden requests
        and the log. Schema properties keep their declared order, in which a model fills them
        in."""
        out: dict[str, Any] = {"messages": [m.to_json() for m in self.messages]}
        out |= self.sampling.to_json()
        if self.mode == "json_schema" and self.schema is not None:
            told = {"name": self.schema.name, "schema": self.schema.json, "strict": True}
            out["response_format"] = {"type": "json_schema", "json_schema": told}
        elif self.mode == "json_object":
            out["response_format"] = {"type": "json_object"}
        return out


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An endpoint's reply. finish_reason: `stop`, `length`, `content_filter`, … as reported.

    cached_input, reasoning: input tokens from the endpoint's prefix cache, and output tokens of
    thinking; both are included in the totals. elsewhere: the field used instead of the text, if
    any. sent, raw: the body sent and the raw reply, if they differ from `ChatRequest.body` and
    `text`.
    """

    text: str
    finish_reason: str | None = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    cached_input: int = 0
    reasoning: int = 0
    elsewhere: str = ""
    sent: JsonValue = None
    raw: JsonValue = None


class ChatModel(Protocol):
    """A language model behind an endpoint. One attempt per call; the gateway retries.

    Optional attributes: `base_url` (str), its endpoint; `offline = True`: makes no calls, so it is
    allowed where model calls are forbidden; `free = True`: its price is known to be zero;
    `modes` (tuple of `Mode`): supported structured output modes, best first; `base_sampling`
    (`Sampling`): defaults; `ignores`: names of unsupported sampling parameters; `notice` (a pair of
    texts, Japanese and English): must be printed next to its results.
    """

    #: `provider:name`, as the user wrote it.
    name: str

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request.

        Raises:
            Transient: worth a retry (429, 5xx, lost connection, time-out, broken body).
            Unusable: no retry helps (no key, unknown model, refused parameters).
        """
        ...

    async def aclose(self) -> None: ...


class Transient(Exception):
    """A temporary failure. retry_after: seconds requested by the endpoint, if any. of_form: another
    form may be accepted (without schema, without system message)."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, of_form: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after, self.of_form = retry_after, of_form


class BadReply(Transient):
    """The endpoint's reply is truncated or unreadable."""


class Unreachable(Transient):
    """Connection failed: refused, or the name does not resolve."""


class Unusable(Exception):
    """The endpoint refuses permanently. of_form: as `Transient`.

    hopeless: it would refuse every request (wrong key, unknown model, no credit).
    refused: names of unsupported sampling parameters. remedy: for hopeless failures.
    """

    def __init__(
        self,
        message: str,
        *,
        of_form: bool = False,
        hopeless: bool = False,
        refused: tuple[str, ...] = (),
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.of_form, self.hopeless = of_form, hopeless
        self.refused, self.remedy = refused, remedy


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
        """Shape (len(texts), dim), float32, unit rows. An empty list gives (0, dim)."""
        ...


@runtime_checkable
class PassageEmbedder(Embedder, Protocol):
    """An embedder that embeds the parts of a passage in context, in one pass."""

    def embed_passages(
        self, passages: Sequence[tuple[str, Sequence[str]]]
    ) -> list[npt.NDArray[np.float32]]:
        """passages: the topic of each (its headings), and at least one part, in order.
        Returns unit rows per passage, shape (1 + parts, dim): the whole, then its parts."""
        ...


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Connection settings. Frozen; several models may share them.

    base_url: an OpenAI-compatible endpoint, usually ending in `/v1`; `None`: from
    `OPENAI_BASE_URL`. api_key: `None`: from the provider's variable. timeout: seconds per
    attempt. concurrency: requests in flight at once. requests_per_minute, tokens_per_minute:
    `None` for no limit. structured: the first structured output mode to try; weaker modes follow
    if the endpoint refuses it. options: provider-specific.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    structured: Mode = "json_schema"
    options: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.base_url is not None:
            check_url(self.base_url, "--base-url")
        positive = {
            "timeout": self.timeout,
            "concurrency": self.concurrency,
            say("1 分あたりのリクエスト数", "requests per minute"): self.requests_per_minute,
            say("1 分あたりのトークン", "tokens per minute"): self.tokens_per_minute,
        }
        for name, value in positive.items():
            if value is not None and value <= 0:
                raise InputError(
                    say(
                        f"{name} は 0 より大きくなければなりません ({value} が渡されました)",
                        f"{name} must be greater than 0, not {value}",
                    )
                )

    def url(self, fallback: str | None = None) -> str | None:
        """The base URL: this setting, else `OPENAI_BASE_URL`, else `fallback`."""
        if self.base_url is not None:
            return self.base_url
        if url := os.environ.get("OPENAI_BASE_URL"):
            return check_url(url, "OPENAI_BASE_URL")
        return fallback

    def key(self, variable: str, url: str | None = None) -> str | None:
        """The API key for an endpoint: this setting, else the variable if `url` may receive it
        (`naisei.keys`), else `None`. url: `None` for the provider's own."""
        return self.api_key or keys.key(variable, url)


def check_url(url: str, place: str) -> str:
    """Return the URL.

    Raises:
        InputError: it is not an http(s) URL with a host.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        parts.port  # noqa: B018  (raises for an invalid port)
    except ValueError:
        good = False
    if not good:
        raise InputError(
            say(f"{url!r} は接続先の URL ではありません", f"{url!r} is not a URL of an endpoint"),
            place=place,
            remedy=say(
                "http://HOST:PORT/v1 の形で書いてください", "write it as http://HOST:PORT/v1"
            ),
        )
    return url


# The switch that forbids model calls: `NAISEI_FORBID_MODELS`.
#
# `1` forbids every model that is not scripted; `remote` forbids calls that leave this machine,
# so tests can use a loopback server. Unset, empty or `0` forbids nothing.


def check_allowed(model: ChatModel) -> None:
    """Raises `ModelCallForbidden` if the switch forbids calling `model`.

    Raises:
        InputError: the switch has an unknown value.
    """
    switch = os.environ.get("NAISEI_FORBID_MODELS", "")
    if switch in ("", "0") or getattr(model, "offline", False):
        return
    if switch not in ("1", "remote"):
        raise InputError(
            say(f"{switch!r} は使えません", f"unknown value {switch!r}"),
            place="NAISEI_FORBID_MODELS",
            remedy=say("1、remote、0 のどれかにしてください", "use 1, remote or 0"),
        )
    from naisei.addresses import is_loopback

    if switch == "remote" and is_loopback(getattr(model, "base_url", None)):
        return
    raise ModelCallForbidden(
        say(
            f"モデルの呼び出しは禁止されていますが、{model.name} が呼ばれました "
            f"(NAISEI_FORBID_MODELS={switch})",
            f"{model.name} was called while model calls are switched off "
            f"(NAISEI_FORBID_MODELS={switch})",
        )
    )
