"""The world: maps each kind of effect to the handler that performs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from naisei.core.effects import Effect, Flow
from naisei.core.errors import FlowError
from naisei.core.events import Usage, Where

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Performed(Generic[T]):
    """A result with what it cost. Handlers without costs return the bare result."""

    value: T
    usage: Usage | None = None


class Handler:
    """Performs effects of one kind. Subclass it, or wrap a function in `FunctionHandler`.

    `perform` may be a plain or an async method; it returns the result, or `Performed`.
    It raises `InstrumentFailure` if it could not measure.
    """

    def perform(
        self, effect: Any, where: Where
    ) -> Any | Performed[Any] | Awaitable[Any | Performed[Any]]:
        raise NotImplementedError

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        """Rebuild the state that `perform` changes; called on replay instead of it.

        A memory adds the item again; an environment that cannot be restored repeats
        the recorded action and compares the observation. Raises `ReplayDivergence`
        if the state cannot match the recorded one, and `InstrumentFailure` if it could not
        be rebuilt now. The flow sees neither; the episode ends.
        """


class FlowHandler(Handler):
    """Performs an effect by running a flow, whose effects are logged as nested in that effect.

    An example is a user simulator that calls a language model: its model calls are logged,
    counted, resumed and limited like the agent's.

    On replay `respond` is driven again from the log, so that its state and that of nested
    handlers are rebuilt; `restore` is never called.
    """

    def respond(self, effect: Any, where: Where) -> Flow[Any]:
        raise NotImplementedError


class HandlerWrapper(Handler):
    """Performs and restores effects through another handler. A subclass changes the effect or adds
    a side effect: `return super().perform(changed, where)`.

    A handler's only inputs are the effect and `where`, so a wrapper cannot omit any.
    """

    def __init__(self, inner: Handler) -> None:
        self.inner = inner

    def perform(self, effect: Any, where: Where) -> Any:
        return self.inner.perform(effect, where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        self.inner.restore(effect, result, where)


class FunctionHandler(Handler):
    """A handler from a function of the effect (plain or async)."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def perform(self, effect: Any, where: Where) -> Any:
        return self.function(effect)


class World:
    """A mapping from effect class to handler; a subclass is served by its base's handler.

    >>> from naisei.core import AskUser, World, run
    >>> run(iter(AskUser("お茶にしますか？")), World({AskUser: lambda ask: "はい"}))
    'はい'
    """

    def __init__(
        self, handlers: Mapping[type[Effect[Any]], Handler | Callable[[Any], Any]]
    ) -> None:
        self._handlers = {
            kind: handler if isinstance(handler, Handler) else FunctionHandler(handler)
            for kind, handler in handlers.items()
        }

    def handler(self, effect: Effect[Any]) -> Handler:
        """Return the handler of an effect. Raises `FlowError` if there is none."""
        for base in type(effect).__mro__:
            if base in self._handlers:
                return self._handlers[base]
        raise FlowError(f"this world has no handler for {type(effect).__name__} effects")

    def having(self, handlers: Mapping[type[Effect[Any]], Handler | Callable[[Any], Any]]) -> World:
        """Return a copy of this world with some handlers added or replaced."""
        return World({**self._handlers, **handlers})
