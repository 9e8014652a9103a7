"""Models that a program has already: of pydantic-ai, of LangChain, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatModel, ChatReply, ChatRequest, Mode, ModelSettings, Transient

#: `provider:name`; a model of pydantic-ai; a chat model of LangChain; a function, plain or async,
#: from messages (`{"role": …, "content": …}`) to the reply's text; a `ChatModel` of ours.
AnyModel = object


def as_model(given: AnyModel) -> str | ChatModel:
    """The model, as ours; a name stays one. It is called in an event loop of naisei's own.

    Raises:
        InputError: it is not such a model.
    """
    if isinstance(given, str):
        return given
    if hasattr(given, "complete") and hasattr(given, "aclose"):
        return cast(ChatModel, given)
    if hasattr(given, "request") and hasattr(given, "request_stream"):
        return _of_pydantic_ai(given)
    if hasattr(given, "ainvoke"):
        return _GivenModel(given, _invoked(given))
    if callable(given):
        return _GivenModel(given, _called(given))
    told = say("モデルとして使えません", "is not a model")
    raise InputError(
        f"{type(given).__name__} {told}",
        place="model",
        remedy=say(
            "provider:name、pydantic-ai か LangChain のモデル、関数のどれかを渡してください",
            "give provider:name, a model of pydantic-ai or LangChain, or a function",
        ),
    )


class _GivenModel:
    """A `ChatModel` around a user's object. Structured output is requested in the prompt."""

    modes: tuple[Mode, ...] = ("prompt",)
    offline = True  # a model passed by the caller may be called

    def __init__(self, given: object, ask: Callable[[ChatRequest], Awaitable[ChatReply]]) -> None:
        called = getattr(given, "__qualname__", type(given).__qualname__)
        self.name, self._ask = f"given:{called}", ask

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Whatever the object raises may pass with another try."""
        try:
            return await self._ask(request)
        except Exception as error:
            raise Transient(f"{type(error).__name__}: {error}") from error

    async def aclose(self) -> None: ...


def _of_pydantic_ai(given: Any) -> ChatModel:
    from naisei.models.providers.vendors import DirectModel

    async def close() -> None: ...

    made = DirectModel(
        f"given:{given.model_name}",
        given,
        ModelSettings(structured="prompt"),
        base_url=str(given.base_url or ""),
        close=close,
        given={},
        ignores=(),
    )
    made.offline = True  # type: ignore[attr-defined]
    return made


def _invoked(given: Any) -> Callable[[ChatRequest], Awaitable[ChatReply]]:
    async def ask(request: ChatRequest) -> ChatReply:
        said = await given.ainvoke([(m.role, m.content) for m in request.messages])
        used = getattr(said, "usage_metadata", None) or {}
        told = getattr(said, "response_metadata", None) or {}
        text = said.text if isinstance(said.text, str) else said.text()
        return ChatReply(
            str(text),
            told.get("finish_reason", "stop"),
            int(used.get("input_tokens", 0)),
            int(used.get("output_tokens", 0)),
            model=str(told.get("model_name", "")),
        )

    return ask


def _called(given: Callable[..., Any]) -> Callable[[ChatRequest], Awaitable[ChatReply]]:
    async def ask(request: ChatRequest) -> ChatReply:
        said = given([m.to_json() for m in request.messages])
        return ChatReply(str(await said if inspect.isawaitable(said) else said))

    return ask
