"""Effects as OpenTelemetry spans, by its conventions for generative AI: `chat`, `execute_tool`,
`retrieval`, with model, tokens and conversation. Message content is left out unless
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Awaitable
from typing import Any
from urllib.parse import urlsplit

from naisei.core import Effect, Event, FlowHandler, Handler, Performed, Where, World
from naisei.core.world import HandlerWrapper

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def content_wanted() -> bool:
    """Return whether spans include message content."""
    return os.environ.get(_CONTENT, "").lower() == "true"


def traced(world: World) -> World:
    """Return a world in which each effect is a span under the caller's current span, using the
    program's tracer provider. Without a provider, return the world unchanged."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None or type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider":
        return world
    return _Traced(world, trace)


class _Traced(World):
    def __init__(self, world: World, trace: Any) -> None:
        self._world, self._trace = world, trace

    def handler(self, effect: Effect[Any]) -> Handler:
        inner = self._world.handler(effect)
        # The effects of a flow have their own spans.
        return inner if isinstance(inner, FlowHandler) else _Spanned(inner, self._trace)


class _Spanned(HandlerWrapper):
    """Opens a span around each performed effect, but not around replayed ones."""

    def __init__(self, inner: Handler, trace: Any) -> None:
        super().__init__(inner)
        self._trace = trace
        self._tracer = trace.get_tracer_provider().get_tracer("naisei")

    def perform(self, effect: Any, where: Where) -> Any:
        begun = time.time_ns()
        try:
            made = super().perform(effect, where)
        except Exception as error:
            self._failed(effect, where, begun, error)
            raise
        if inspect.isawaitable(made):
            return self._awaited(effect, where, begun, made)
        self._done(effect, where, begun, made)
        return made

    async def _awaited(self, effect: Any, where: Where, begun: int, made: Awaitable[Any]) -> Any:
        try:
            done = await made
        except Exception as error:
            self._failed(effect, where, begun, error)
            raise
        self._done(effect, where, begun, done)
        return done

    def _done(self, effect: Any, where: Where, begun: int, made: Any) -> None:
        value, usage = (made.value, made.usage) if isinstance(made, Performed) else (made, None)
        result = effect.encode(value)
        self._ended(Event(where, effect.kind, "", effect.request(), result, usage=usage), begun)

    def _failed(self, effect: Any, where: Where, begun: int, error: Exception) -> None:
        usage = getattr(error, "usage", None)
        # Waiting for a person's answer leaves the flow by an exception, which is not a failure.
        waits = getattr(error, "waits", False)
        failure = None if waits else (type(error).__name__, str(error))
        event = Event(where, effect.kind, "", effect.request(), failure=failure, usage=usage)
        self._ended(event, begun)

    def _ended(self, event: Event, begun: int) -> None:
        name, attributes, kind = described(event, content=content_wanted())
        if event.where.episode:
            attributes["gen_ai.conversation.id"] = event.where.episode
        span = self._tracer.start_span(
            name,
            kind=getattr(self._trace.SpanKind, kind),
            attributes=attributes,
            start_time=begun,
        )
        if event.failure is not None:
            failed(self._trace, span, *event.failure, content=content_wanted())
        span.end()


def failed(trace: Any, span: Any, kind: str, why: str = "", *, content: bool) -> None:
    """Mark a span as failed. content: whether to include the reason."""
    span.set_attribute("error.type", kind)
    text = why if content else ""
    span.set_status(trace.Status(trace.StatusCode.ERROR, text or None))


def described(event: Event, *, content: bool) -> tuple[str, dict[str, Any], str]:
    """Return the name, attributes and kind of the span of an effect."""
    request: Any = event.request
    own: dict[str, Any] = {"naisei.step": event.where.step, "naisei.effect": event.kind}
    usage = event.usage
    if event.kind == "chat":
        provider, _, model = (usage.model if usage is not None else "").partition(":")
        model, _, address = model.partition("@http")
        own |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider.replace("-compatible", "") or "unknown",
            "gen_ai.request.model": model,
            "gen_ai.agent.name": request["role"],
        }
        if address:
            at = urlsplit("http" + address)
            own |= {"server.address": at.hostname or "", "server.port": at.port or 0}
        if usage is not None:
            own["gen_ai.usage.input_tokens"] = usage.input_tokens
            own["gen_ai.usage.output_tokens"] = usage.output_tokens
        if content:
            said = [_message(m["role"], m["content"]) for m in request["messages"]]
            own["gen_ai.input.messages"] = json.dumps(said, ensure_ascii=False)
            answer = [_message("assistant", event.result)]
            own["gen_ai.output.messages"] = json.dumps(answer, ensure_ascii=False)
        return f"chat {model}".strip(), own, "CLIENT"
    if event.kind == "search":
        source = request.get("source") or "index"
        own |= {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": source}
        if content:
            own["gen_ai.retrieval.query.text"] = request["query"]
        return f"retrieval {source}", own, "CLIENT"
    if event.kind in ("act", "ask", "say", "remember", "now", "embed"):
        tool = {"act": "act", "ask": "ask_user"}.get(event.kind, event.kind)
        operation = "embeddings" if tool == "embed" else "execute_tool"
        own |= {"gen_ai.operation.name": operation, "gen_ai.tool.name": tool}
        if content and tool != "embed":
            own["gen_ai.tool.call.arguments"] = json.dumps(request, ensure_ascii=False)
            own["gen_ai.tool.call.result"] = json.dumps(event.result, ensure_ascii=False)
        return f"{operation} {tool}", own, "INTERNAL"
    return event.kind, own, "INTERNAL"


def _message(role: str, said: Any) -> dict[str, Any]:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return {"role": role, "parts": [{"type": "text", "content": text}]}
