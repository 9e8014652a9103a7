"""Coroutines for callers that do not await: also where an event loop runs, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import wraps
from threading import Event
from typing import Any, ParamSpec, TypeVar

__all__ = ["blocking"]

P = ParamSpec("P")
T = TypeVar("T")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """`arun_…` as `run_…`, which returns when all is done.

    In a thread with a loop of its own if a loop runs in this one; its callbacks are called
    there, then.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function(*args, **kwargs))
        return _apart(function(*args, **kwargs))

    run.__name__ = function.__name__.removeprefix("a")
    run.__qualname__ = function.__qualname__.removeprefix("a")
    return run


def _apart(work: Coroutine[Any, Any, T]) -> T:
    began = Event()
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def go() -> T:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        began.set()
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="naisei-loop") as threads:
        # With the context: the language that is spoken is in it.
        done = threads.submit(copy_context().run, asyncio.run, go())
        try:
            return done.result()
        except KeyboardInterrupt:  # the notebook's stop button
            began.wait()
            loop, task = started[0]
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
            with suppress(asyncio.CancelledError, CancelledError):
                done.result()
            raise
