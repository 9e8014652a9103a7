"""Costs of calls: tokens, attempts and dollars, with plausibility checks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from pydantic import JsonValue

from naisei.core import Usage
from naisei.models.base import ChatModel, ChatReply, ChatRequest

#: Provider → host of its API.
_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
}
#: Names not in the list: a failed lookup takes far longer than a hit.
_unknown: set[tuple[str, str]] = set()


def price(model: ChatModel, reply: ChatReply) -> float | None:
    """US dollars; 0 if the model is known to be free; `None` if unknown.

    A well-known name behind another endpoint (vLLM, Ollama, a proxy) has no known price.
    """
    if getattr(model, "free", False):
        return 0.0
    provider, _, name = model.name.partition(":")
    url = getattr(model, "base_url", None)
    if provider not in _HOSTS or (url is not None and urlsplit(url).hostname != _HOSTS[provider]):
        return None
    name = reply.model or name
    if (provider, name) in _unknown:
        return None
    from genai_prices import Usage, calc_price

    used = Usage(
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cache_read_tokens=reply.cached_input,
    )
    try:
        return float(calc_price(used, name, provider_id=provider).total_price)
    except LookupError:
        _unknown.add((provider, name))
        return None


@dataclass(slots=True)
class CallCost:
    """The cost of one call so far, including failed and unusable replies. trouble: why the last
    attempt failed. sent: each request with its reply or failure.
    """

    attempts: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    repaired: bool = False
    lost_input: int = 0
    lost_output: int = 0
    trouble: str = ""
    cached_input: int = 0
    reasoning: int = 0
    sent: list[JsonValue] = field(default_factory=list)

    def lose(self, reply: ChatReply, why: str) -> None:
        """Mark a counted reply as unusable."""
        self.lost_input += reply.input_tokens
        self.lost_output += reply.output_tokens
        self.trouble = why

    def note(self, what: str) -> None:
        """Add a log note to the last reply."""
        last = self.sent[-1]
        assert isinstance(last, dict)
        last["note"] = "; ".join([str(last["note"]), what] if "note" in last else [what])

    def add(self, reply: ChatReply, usd: float | None) -> None:
        self.calls += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.cached_input += reply.cached_input
        self.reasoning += reply.reasoning
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def usage(self, role: str, model: str) -> Usage:
        """The usage for the log; no price without a reply."""
        return Usage(
            role=role,
            model=model,
            calls=self.calls,
            attempts=self.attempts,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            usd=self.usd if self.calls else None,
            repaired=self.repaired,
            lost_input=self.lost_input,
            lost_output=self.lost_output,
            cached_input=self.cached_input,
            reasoning=self.reasoning,
            sent=tuple(self.sent),
        )


#: Tokens an endpoint may add to messages (schema, template), and thinking tokens.
_ADDED, _THOUGHT = 65_536, 2_000_000


def _sizes(request: ChatRequest, reply: ChatReply) -> tuple[int, int]:
    """UTF-8 bytes of the request's messages and of the reply: upper bounds on tokens."""
    texts = [m.content for m in request.messages]
    asked = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return asked, len(reply.text.encode("utf-8", "surrogatepass"))


def believable(request: ChatRequest, reply: ChatReply) -> bool:
    """Whether an endpoint's token counts are plausible: not negative, not 0 for a text, and not far
    above the text sizes."""
    asked, answered = _sizes(request, reply)
    return (
        min(asked, 1) <= reply.input_tokens <= asked + _ADDED
        and min(answered, 1) <= reply.output_tokens <= answered + _THOUGHT
        and 0 <= reply.cached_input <= reply.input_tokens
        and 0 <= reply.reasoning <= answered + _THOUGHT
    )


def uncounted(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """The reply with token counts from its text sizes, for budgets."""
    asked, answered = _sizes(request, reply)
    return replace(
        reply, input_tokens=asked, output_tokens=max(answered, 1), cached_input=0, reasoning=0
    )


def estimated(request: ChatRequest) -> int:
    """Estimated tokens of a request: a third of its UTF-8 bytes."""
    asked = sum(len(m.content.encode("utf-8", "surrogatepass")) for m in request.messages) // 3
    return asked + (request.sampling.max_tokens or 256)
