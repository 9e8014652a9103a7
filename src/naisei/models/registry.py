"""Models by name, one per role, and the world that performs Chat, Embed and Now. Also wraps a
program's own models: from pydantic-ai, from LangChain, or a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from naisei import entries
from naisei.core import Chat, Embed, InputError, Now, Sampling, World
from naisei.lang import say
from naisei.models.base import ChatModel, ModelSettings

if TYPE_CHECKING:
    from naisei.models.pacing import Throttle


import inspect
from collections.abc import Awaitable

from naisei.models.base import ChatReply, ChatRequest, Mode, Transient

#: Entry-point group of providers. An entry is a `_Builder`.
GROUP = "naisei.providers"

#: Creates a model from the part of the name after the colon, and settings. Raises
#: `InputError` if a key, an extra or a file is missing; sends nothing.
_Builder = Callable[[str, ModelSettings], ChatModel]


def providers() -> dict[str, EntryPoint]:
    """Installed providers by name, including plug-ins (`naisei.entries.entries`)."""
    return entries.entries(GROUP)


def open_model(spec: str, settings: ModelSettings | None = None) -> ChatModel:
    """Open `provider:name`, such as `openai:gpt-4.1-mini` or `scripted:rules.jsonl`.

    Raises:
        InputError: an unknown provider, a missing extra or key, or an unusable name.
    """
    provider, colon, name = spec.partition(":")
    known = providers()
    if not colon or provider not in known:
        raise InputError(
            say(
                f"{provider!r} というプロバイダーはありません"
                if colon
                else "モデルは PROVIDER:NAME の形で指定します",
                f"unknown provider {provider!r}" if colon else "a model is named PROVIDER:NAME",
            ),
            place=f"model {spec!r}",
            remedy=say(
                f"使えるもの: {', '.join(known)}。パッケージからは、グループ {GROUP} の"
                "エントリポイントに関数 (name, settings) -> ChatModel を登録すると足せます",
                f"known providers: {', '.join(known)}; a package adds one by an entry point "
                f"of the group {GROUP}: a function (name, settings) -> ChatModel",
            ),
        )
    try:
        build = cast(_Builder, known[provider].load())
        return build(name, settings or ModelSettings())
    except ImportError as error:
        origin = known[provider].value
        extra = f"pip install 'naisei[{provider}]'"
        again = say(
            f"これを提供するパッケージを入れ直してください: {origin}",
            f"reinstall the package that brings it: {origin}",
        )
        raise InputError(
            say(
                f"プロバイダー {provider!r} を読み込めません: {error}",
                f"the provider {provider!r} cannot be loaded: {error}",
            ),
            place=f"model {spec!r}",
            remedy=extra if origin.startswith("naisei.") else again,
        ) from error


@dataclass(frozen=True)
class Roles:
    """A default model and per-role models; sampling parameters likewise.

    default: may be `None` if only the named roles call a model. sampling_of: overrides
    `sampling` by role.
    """

    default: ChatModel | None = None
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    sampling: Sampling = Sampling()
    sampling_of: Mapping[str, Sampling] = field(default_factory=dict)

    def model(self, role: str) -> ChatModel:
        """Raises `InputError` if `role` has no model."""
        found = self.models.get(role, self.default)
        if found is None:
            raise _no_model(role)
        return found

    def sampling_for(self, role: str, asked: Sampling) -> Sampling:
        """The effect's parameters, over the role's, over the defaults."""
        return asked.over(self.sampling_of.get(role, Sampling()).over(self.sampling))

    def all(self) -> list[ChatModel]:
        """Each model once."""
        every = [m for m in (self.default, *self.models.values()) if m is not None]
        return list({id(m): m for m in every}.values())


def open_roles(
    default: str | None,
    per_role: Mapping[str, str] | None = None,
    *,
    settings: ModelSettings | None = None,
    sampling: Sampling = Sampling(),
    sampling_of: Mapping[str, Sampling] | None = None,
) -> Roles:
    """Open models by name; roles with the same model share it and its limits.

    Raises:
        InputError: see `open_model`.
    """
    opened: dict[str, ChatModel] = {}
    for spec in [default, *(per_role or {}).values()]:
        if spec is not None and spec not in opened:
            opened[spec] = open_model(spec, settings)
    return Roles(
        opened[default] if default is not None else None,
        {role: opened[spec] for role, spec in (per_role or {}).items()},
        sampling,
        sampling_of or {},
    )


@asynccontextmanager
async def base_world(
    models: Mapping[str, str],
    *,
    settings: ModelSettings | None = None,
    sampling_of: Mapping[str, Sampling] | None = None,
    embedder: str = "auto",
    cache: Path | None = None,
    resends_of: Mapping[str, int] | None = None,
    throttle: Callable[[str, ModelSettings], Throttle] | None = None,
) -> AsyncIterator[World]:
    """A world that performs Chat, Embed and Now, closed on leaving.

    Args:
        models: role → `provider:name`. Other roles have no model.
        sampling_of: role → sampling parameters.
        embedder: opened when first needed.
        resends_of: role → identical requests after an unusable reply; see `Gateway`.
        throttle: see `Gateway`.

    Raises:
        InputError: a model cannot be opened, or (later) a role without a model is called.
    """
    from naisei.models.embedders import EmbedHandler, open_embedder  # imports numpy

    embed = EmbedHandler(lambda: open_embedder(embedder))
    if not models:
        yield World({Chat: _refused, Embed: embed, Now: _now})
        return
    # The model stack takes a second to import; agents without a model skip it.
    from naisei.models.cache import ReplyCache
    from naisei.models.gateway import Gateway

    roles = open_roles(None, models, settings=settings, sampling_of=sampling_of)
    gateway = Gateway(
        roles,
        settings=settings,
        cache=ReplyCache(cache) if cache is not None else None,
        resends_of=resends_of,
        throttle=throttle,
    )
    try:
        yield World({Chat: gateway, Embed: embed, Now: _now})
    finally:
        await gateway.aclose()


def _no_model(role: str) -> InputError:
    return InputError(
        say(f"役割 {role!r} のモデルが指定されていません", f"no model for the role {role!r}"),
        remedy=say(
            f"--model PROVIDER:NAME か --{role}-model PROVIDER:NAME を付けてください",
            f"give --model PROVIDER:NAME or --{role}-model PROVIDER:NAME",
        ),
    )


def _refused(effect: Chat[Any]) -> Any:
    raise _no_model(effect.role)


def _now(effect: Now) -> datetime:
    return datetime.now(UTC)


#: `provider:name`; a model of pydantic-ai; a chat model of LangChain; a function, plain or async,
#: from messages (`{"role": …, "content": …}`) to the reply's text; a `ChatModel` of ours.
AnyModel = object


def as_model(given: AnyModel) -> str | ChatModel:
    """Wrap a model as a `ChatModel`; names are unchanged. It runs in naisei's own event loop.

    Raises:
        InputError: not a supported model.
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
        """Treat any exception of the object as temporary."""
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
