"""What a reply cost in US dollars, by the public price list of genai-prices."""

from __future__ import annotations

from urllib.parse import urlsplit

from naisei.models.base import ChatModel, ChatReply

__all__ = ["price"]

_PROVIDERS = {"openai", "anthropic", "google"}
#: Names that the list does not know: looking one up takes far longer than a hit.
_unknown: set[tuple[str, str]] = set()


def price(model: ChatModel, reply: ChatReply) -> float | None:
    """US dollars; 0 where the model is known to be free; `None` where nobody knows.

    A well-known name behind another endpoint (vLLM, Ollama, a proxy) has no known price.
    """
    if getattr(model, "free", False):
        return 0.0
    provider, _, name = model.name.partition(":")
    if provider not in _PROVIDERS or not _official(provider, getattr(model, "base_url", None)):
        return None
    name = reply.model or name
    if (provider, name) in _unknown:
        return None
    from genai_prices import Usage, calc_price

    used = Usage(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
    try:
        return float(calc_price(used, name, provider_id=provider).total_price)
    except LookupError:
        _unknown.add((provider, name))
        return None


def _official(provider: str, url: str | None) -> bool:
    if url is None:
        return True
    host = urlsplit(url).hostname or ""
    hosts = {
        "openai": "api.openai.com",
        "anthropic": "api.anthropic.com",
        "google": "generativelanguage.googleapis.com",
    }
    return host == hosts[provider]
