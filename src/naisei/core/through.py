"""Flows within flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from naisei.core.effects import Effect, Flow

T = TypeVar("T")


def through(flow: Flow[T], perform: Callable[[Effect[Any]], Flow[Any]]) -> Flow[T]:
    """Run `flow` with each effect performed by `perform`, itself a flow: it may yield the effect,
    another one, or none. An exception of `perform` is raised in `flow` at the effect."""
    step: Callable[[], Effect[Any]] = lambda: next(flow)  # noqa: E731
    while True:
        try:
            effect = step()
        except StopIteration as stop:
            returned: T = stop.value
            return returned
        try:
            result = yield from perform(effect)
        except Exception as error:
            step = lambda failed=error: flow.throw(failed)  # type: ignore[misc] # noqa: E731
        else:
            step = lambda got=result: flow.send(got)  # type: ignore[misc] # noqa: E731
