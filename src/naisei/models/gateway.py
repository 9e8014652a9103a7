"""The gateway performs `Chat` effects: cache, limits, retries, validation, costs. Also a handler
with one model for every role, for programs with or without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import ValidationError

from naisei.core import (
    Chat,
    Handler,
    InstrumentFailure,
    Performed,
    Sampling,
    Usage,
    Where,
    fingerprint,
)
from naisei.models.base import (
    ChatModel,
    ChatRequest,
    ModelSettings,
    Transient,
    Unusable,
    check_allowed,
)
from naisei.models.cache import ReplyCache, cache_key
from naisei.models.connection import Connection
from naisei.models.costs import CallCost
from naisei.models.exchange import Exchange
from naisei.models.pacing import RetryPolicy, Throttle
from naisei.models.registry import Roles, open_roles

T = TypeVar("T")


class Gateway(Handler):
    """Performs `Chat`: `World({Chat: Gateway(roles)})`, driven by `arun`.

    Args:
        roles: the model of each role.
        settings: limits of each model's endpoint (concurrency, per minute).
        cache: replies by call and step of the run; none by default. A hit costs nothing and
            is not counted as a call (`Usage.cached`).
        patience: attempts and waits.
        throttle: creates the rate limiter of a model, from its name and settings; in this process
            by default.
        resends_of: role → its `RetryPolicy.resends`: 0 for a judge whose malformed replies are
            repaired once and then count as failures.

    Raises (in `perform`):
        InstrumentFailure: no usable reply; `usage` has the cost of all attempts.
        InputError: the endpoint is unreachable or refuses every request; no model for
            the role.
        ModelCallForbidden: model calls are switched off.
    """

    def __init__(
        self,
        roles: Roles,
        *,
        settings: ModelSettings | None = None,
        cache: ReplyCache | None = None,
        patience: RetryPolicy | None = None,
        resends_of: Mapping[str, int] | None = None,
        throttle: Callable[[str, ModelSettings], Throttle] | None = None,
    ) -> None:
        self._roles, self._cache, self._patience = roles, cache, patience or RetryPolicy()
        self._resends_of = resends_of or {}
        self._settings = settings or ModelSettings()
        self._lines: dict[int, Connection] = {}
        self._throttle = throttle or (lambda model, settings: Throttle(settings))

    async def perform(self, effect: Chat[Any], where: Where) -> Performed[Any]:
        model = self._roles.model(effect.role)
        sampling = self._roles.sampling_for(effect.role, effect.sampling)
        sampling = sampling.over(getattr(model, "base_sampling", Sampling()))
        if sampling.seed is not None:
            sampling = replace(sampling, seed=_seed(sampling.seed, effect.role, where))
        key = ""
        if self._cache is not None:
            key = cache_key(model, effect, sampling, where)
            if (hit := self._cache.get(key)) is not None:
                try:
                    value = effect.decode(hit[0])
                except ValidationError:
                    pass  # A validator changed, which the schema does not show: ask again.
                else:
                    return Performed(value, Usage(effect.role, model.name, cached=True))
        check_allowed(model)
        spent = CallCost()
        resends = self._resends_of.get(effect.role, self._patience.resends)
        request = ChatRequest(
            effect.messages, sampling, role=effect.role, at=str(where), on_text=effect.on_text
        )
        exchange = Exchange(self._line(model), request, resends=resends, spent=spent)
        try:
            if effect.schema is None:
                value = await exchange.text()
            else:
                value = await exchange.structured(effect.schema)
        except (Transient, Unusable) as error:
            usage = spent.usage(effect.role, model.name)
            raise InstrumentFailure(f"{model.name} as {effect.role}: {error}", usage) from error
        if self._cache is not None:
            self._cache.put(key, effect.encode(value))
        return Performed(value, spent.usage(effect.role, model.name))

    async def aclose(self) -> None:
        """Close the models' connections and the cache."""
        for model in self._roles.all():
            await model.aclose()
        if self._cache is not None:
            self._cache.close()

    def _line(self, model: ChatModel) -> Connection:
        line = self._lines.get(id(model))
        if line is None:
            throttle = self._throttle(model.name, self._settings)
            line = self._lines[id(model)] = Connection(model, throttle, self._patience)
        return line


def _seed(seed: int, role: str, where: Where) -> int:
    """A different seed per call, 0 to 2³¹ - 1: one seed for all would make trials and parallel
    judgements identical."""
    place = [seed, role, where.instance, where.trial, list(where.path)]
    return int(fingerprint(place)[:8], 16) >> 1


class ModelHandler(Handler):
    """One model for every role. Its connections use their own event loop, independent of the
    callers' loops. blocking: synchronous."""

    def __init__(self, model: str | ChatModel, *, blocking: bool) -> None:
        self._model, self._blocking = model, blocking

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        gateway = _gateway(self._model)  # type: ignore[arg-type]  # a protocol: no word on hashing
        todo = gateway.perform(effect, where)
        return background().wait(todo) if self._blocking else background().awaited(todo)


@lru_cache(256)
def _gateway(model: str | ChatModel) -> Any:
    roles = open_roles(model) if isinstance(model, str) else Roles(model)
    # A person is waiting, so an unresponsive model fails sooner than in a run.
    return Gateway(roles, patience=RetryPolicy(attempts=4, resends=0, connect_attempts=1))


class _Background:
    """An event loop in a thread that ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="naisei-models", daemon=True).start()

    def wait(self, todo: Awaitable[T]) -> T:
        return asyncio.run_coroutine_threadsafe(_coroutine(todo), self._loop).result()

    def awaited(self, todo: Awaitable[T]) -> Awaitable[T]:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_coroutine(todo), self._loop))


async def _coroutine(todo: Awaitable[T]) -> T:
    return await todo


_lock = threading.Lock()
_made: list[_Background] = []


def background() -> _Background:
    with _lock:
        if not _made:
            _made.append(_Background())
        return _made[0]
