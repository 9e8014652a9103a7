"""A model in every role, for programs that drive flows with an event loop or without."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from naisei.core import Chat, Handler, Where

if TYPE_CHECKING:
    from naisei.models.base import ChatModel

T = TypeVar("T")


class ModelHandler(Handler):
    """A model of the model layer in every role. Its connections live in their own loop, independent
    of the callers' loops. blocking: synchronous."""

    def __init__(self, model: str | ChatModel, *, blocking: bool) -> None:
        self._model, self._blocking = model, blocking

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        gateway = _gateway(self._model)  # type: ignore[arg-type]  # a protocol: no word on hashing
        todo = gateway.perform(effect, where)
        return background().wait(todo) if self._blocking else background().awaited(todo)


@lru_cache(256)
def _gateway(model: str | ChatModel) -> Any:
    from naisei.models.gateway import Gateway
    from naisei.models.pacing import RetryPolicy
    from naisei.models.registry import Roles, open_roles

    roles = open_roles(model) if isinstance(model, str) else Roles(model)
    # A person waits, so a silent model is given up sooner than in a run.
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
