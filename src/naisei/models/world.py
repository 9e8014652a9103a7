"""The world that every system shares: models, embeddings and the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from naisei.core import Chat, Embed, Handler, InputError, Now, Sampling, Where, World
from naisei.lang import say
from naisei.models.embedders.registry import EmbedHandler, open_embedder
from naisei.models.settings import ModelSettings

__all__ = ["base_world"]


@asynccontextmanager
async def base_world(
    models: Mapping[str, str],
    *,
    settings: ModelSettings | None = None,
    sampling_of: Mapping[str, Sampling] | None = None,
    embedder: str = "auto",
    cache: Path | None = None,
    resends_of: Mapping[str, int] | None = None,
) -> AsyncIterator[World]:
    """A world that performs Chat, Embed and Now, closed on leaving.

    Args:
        models: role → `provider:name`. A role that is not named has no model.
        sampling_of: role → sampling parameters.
        embedder: opened when first needed.
        resends_of: role → identical requests after a reply that is no answer; see `Gateway`.

    Raises:
        InputError: a model cannot be opened, or (later) a role without a model is called.
    """
    embed = _Lazy(embedder)
    if not models:
        yield World({Chat: _no_model, Embed: embed, Now: _now})
        return
    # The model stack takes a second to import; agents without a model do without it.
    from naisei.models.cache import ReplyCache
    from naisei.models.gateway import Gateway
    from naisei.models.registry import open_roles

    roles = open_roles(None, models, settings=settings, sampling_of=sampling_of)
    gateway = Gateway(
        roles,
        settings=settings,
        cache=ReplyCache(cache) if cache is not None else None,
        resends_of=resends_of,
    )
    try:
        yield World({Chat: gateway, Embed: embed, Now: _now})
    finally:
        await gateway.aclose()


class _Lazy(Handler):
    """Opens the embedder with the first text: its weights are loaded only if needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._handler: EmbedHandler | None = None

    def _opened(self) -> EmbedHandler:
        if self._handler is None:
            self._handler = EmbedHandler(open_embedder(self._name))
        return self._handler

    def perform(self, effect: Any, where: Where) -> Any:
        return self._opened().perform(effect, where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        self._opened().restore(effect, result, where)


def _no_model(effect: Chat[Any]) -> Any:
    raise InputError(
        say(
            f"役割 '{effect.role}' のモデルが指定されていません",
            f"no model for the role '{effect.role}'",
        ),
        remedy=say(
            f"--model PROVIDER:NAME か --{effect.role}-model PROVIDER:NAME を付けてください",
            f"give --model PROVIDER:NAME or --{effect.role}-model PROVIDER:NAME",
        ),
    )


def _now(effect: Now) -> datetime:
    return datetime.now(UTC)
