"""Calls that run on until they really wait.

HTTP libraries pause at many points only to be fair to other tasks. With some dozens of
calls at a time that fairness makes waves: all requests are prepared in turns and leave
together, all replies come together, and the endpoint idles while they are worked on.
Passing over such pauses lets each request leave as soon as it is ready, so that preparing
one overlaps with waiting for the others.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

__all__ = ["Eager"]

T = TypeVar("T")

#: So many pauses in a row are passed over; beyond that, somebody waits for another task.
_IN_A_ROW = 100


class Eager(Generic[T]):
    """`await Eager(coroutine)`: as `await coroutine`, without the bare pauses in it.

    A bare pause is what `asyncio.sleep(0)` does. What waits for something is left alone.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, T]:
        coroutine, passed = self._coroutine, 0
        thrown: BaseException | None = None
        try:
            while True:
                try:
                    if thrown is None:
                        waits_for = coroutine.send(None)
                    else:
                        waits_for = coroutine.throw(thrown)
                except StopIteration as stop:
                    result: T = stop.value
                    return result
                thrown = None
                if waits_for is None and passed < _IN_A_ROW:
                    passed += 1
                    continue
                passed = 0
                try:
                    yield waits_for
                except GeneratorExit:
                    raise
                except BaseException as error:
                    thrown = error
        finally:
            coroutine.close()
