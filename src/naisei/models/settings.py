"""What a provider needs to know to open a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import JsonValue

from naisei import keys
from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import Mode

__all__ = ["ModelSettings", "check_url"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is reached. Frozen; the same settings may serve several models.

    base_url: of an OpenAI-compatible endpoint, ending in `/v1` as a rule; `None` leaves it to
    `OPENAI_BASE_URL`. api_key: `None` leaves it to the provider's variable. timeout: seconds
    for one attempt. concurrency: requests in flight at once. requests_per_minute,
    tokens_per_minute: `None` for no limit. structured: the first way to ask for structure;
    weaker ones follow when the endpoint refuses it. options: a provider's own.
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
        """The base URL: as set, else `OPENAI_BASE_URL`, else `fallback`."""
        if self.base_url is not None:
            return self.base_url
        if url := os.environ.get("OPENAI_BASE_URL"):
            return check_url(url, "OPENAI_BASE_URL")
        return fallback

    def key(self, variable: str, url: str | None = None) -> str | None:
        """The API key for an endpoint: as set, else the variable's if `url` may have it
        (`naisei.keys`), else `None`. url: `None` for the provider's own."""
        return self.api_key or keys.key(variable, url)


def check_url(url: str, place: str) -> str:
    """The URL itself.

    Raises:
        InputError: it is no http(s) URL with a host.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        parts.port  # noqa: B018  (raises for a port that is no number)
    except ValueError:
        good = False
    if not good:
        raise InputError(
            say(f"{url!r} は接続先の URL ではありません", f"{url!r} is no URL of an endpoint"),
            place=place,
            remedy=say(
                "http://HOST:PORT/v1 の形で書いてください", "write it as http://HOST:PORT/v1"
            ),
        )
    return url
