"""The costs of a run: the ledger computed from its log, the budget, and the gate that every effect
passes."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pydantic import JsonValue

from naisei.core import (
    Effect,
    FlowHandler,
    Handler,
    HandlerWrapper,
    InputError,
    Usage,
    Where,
    World,
    between_attempts,
)
from naisei.lang import say

#: Columns for events and failed attempts together: role, model, calls without a price, then the
#: arguments of `Spent.add`.
SPENT = """
SELECT role, model,
  sum(CASE WHEN usd IS NULL AND cached = 0 AND input_tokens + output_tokens > 0
      THEN CASE WHEN calls > 1 THEN calls ELSE 1 END ELSE 0 END),
  sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  sum(lost_input + lost_output), sum(cached), sum(repaired), coalesce(sum(usd), 0.0)
FROM (
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM events WHERE role IS NOT NULL
  UNION ALL
  SELECT role, model, calls, attempts, input_tokens, output_tokens, usd, cached, repaired,
    lost_input, lost_output FROM lost WHERE role IS NOT NULL) AS each
GROUP BY role, model"""
#: Cost of the effects per episode: the episode, then `USAGE`; one row per role and model.
#: {}: the table.
USED = """
SELECT episode, role, model, sum(calls), sum(attempts), sum(input_tokens), sum(output_tokens),
  CASE WHEN sum(CASE WHEN usd IS NULL AND calls > 0 THEN 1 ELSE 0 END) = 0 THEN sum(usd) END,
  cached, repaired, sum(lost_input), sum(lost_output)
FROM {} WHERE role IS NOT NULL GROUP BY episode, role, model, cached, repaired
ORDER BY min(seq)"""


_SUMS = (
    *("unpriced", "calls", "attempts", "input_tokens", "output_tokens"),
    *("lost", "cached", "repaired", "usd"),
)


@dataclass(slots=True)
class Spent:
    """The cost of one role. lost: tokens of unusable replies, included in the totals, as are
    cached_input (read from the endpoint's cache of prefixes) and reasoning. cached: calls answered
    from a cache of replies. unpriced: calls whose price is unknown."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lost: int = 0
    cached: int = 0
    repaired: int = 0
    usd: float = 0.0
    unpriced: int = 0
    cached_input: int = 0
    reasoning: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, *sums: float) -> None:
        """Add totals, in the order of `SPENT`."""
        for name, more in zip(_SUMS, sums, strict=True):
            setattr(self, name, getattr(self, name) + more)

    def to_json(self) -> dict[str, JsonValue]:
        """As in the result object: input, output, total, lost tokens, calls, attempts, …"""
        return {
            "input": self.input_tokens,
            "output": self.output_tokens,
            "total": self.tokens,
            "lost": self.lost,
            "calls": self.calls,
            "attempts": self.attempts,
            "cached": self.cached,
            "repaired": self.repaired,
            "cached_input": self.cached_input,
            "reasoning": self.reasoning,
            "usd": None if self.unpriced else self.usd,
        }


@dataclass(slots=True)
class Ledger:
    """Totals by role. Failed attempts count, since they were billed too."""

    roles: dict[str, Spent] = field(default_factory=dict)
    #: Models that answered without a known price.
    unpriced: set[str] = field(default_factory=set)

    def add(self, usage: Usage | None) -> None:
        if usage is None:
            return
        unpriced = usage.usd is None and bool(usage.tokens) and not usage.cached
        spent = self.roles.setdefault(usage.role, Spent())
        spent.cached_input += usage.cached_input
        spent.reasoning += usage.reasoning
        spent.add(
            max(usage.calls, 1) if unpriced else 0,
            usage.calls,
            usage.attempts,
            usage.input_tokens,
            usage.output_tokens,
            usage.lost_input + usage.lost_output,
            usage.cached,
            usage.repaired,
            usage.usd or 0.0,
        )
        if unpriced:
            self.unpriced.add(usage.model)

    @property
    def tokens(self) -> int:
        return sum(s.tokens for s in self.roles.values())

    @property
    def known_usd(self) -> float:
        """Cost in US dollars of the calls whose price is known."""
        return float(sum(s.usd for s in self.roles.values()))

    @property
    def usd(self) -> float | None:
        """Total cost in US dollars; `None` if the price of any call is unknown."""
        return None if self.unpriced else self.known_usd

    def to_json(self) -> dict[str, JsonValue]:
        return {role: spent.to_json() for role, spent in sorted(self.roles.items())}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may cost; `None` means no bound.

    usd, tokens: for the whole run directory, including earlier calls. minutes: for this
    call. Calls in flight at the limit finish, so a run may exceed it by its concurrent calls.
    """

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("usd", "tokens", "minutes"):
            bound = getattr(self, name)
            if bound is not None and not bound > 0:
                raise InputError(
                    say(
                        f"0 より大きくなければなりません ({bound} が渡されました)",
                        f"must be above 0, not {bound}",
                    ),
                    place=f"--max-{name}",
                )

    def reached(self, ledger: Ledger) -> str:
        """Return a message naming the exhausted limit, or "".

        Raises:
            InputError: a limit in dollars with a model of unknown price.
        """
        if self.usd is not None:
            if ledger.unpriced:
                raise InputError(
                    say(
                        f"単価のわからないモデルがあります: {', '.join(sorted(ledger.unpriced))}",
                        f"no price is known for {', '.join(sorted(ledger.unpriced))}",
                    ),
                    place="--max-usd",
                    remedy=say(
                        "代わりに --max-tokens を使ってください", "use --max-tokens instead"
                    ),
                )
            if ledger.known_usd >= self.usd:
                return say(
                    f"--max-usd: {self.usd:g} ドルのうち {ledger.known_usd:.4f} ドル使用",
                    f"--max-usd: {ledger.known_usd:.4f} of {self.usd:g} dollars",
                )
        if self.tokens is not None and ledger.tokens >= self.tokens:
            return say(
                f"--max-tokens: {self.tokens} トークンのうち {ledger.tokens} トークン使用",
                f"--max-tokens: {ledger.tokens} of {self.tokens} tokens",
            )
        return ""


UNBOUNDED = Budget()


class Gate:
    """Counts effects while open; once closed, new effects wait. Waiting effects are cancelled when
    nothing is in flight, so that every paid answer is logged.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._in_flight = 0
        self._idle, self._closed = asyncio.Event(), asyncio.Event()
        self._told: list[Callable[[str], None]] = []

    def close(self, reason: str) -> None:
        """Start nothing new. The first reason counts."""
        if not self.reason:
            self.reason = reason
            self._closed.set()
            for tell in self._told:
                tell(reason)
        if not self._in_flight:
            self._idle.set()

    def on_close(self, tell: Callable[[str], None]) -> None:
        """tell: called with the reason when the gate is closed."""
        self._told.append(tell)

    def hold(self) -> None:
        """Count one more effect in flight, until `let_go`."""
        self._in_flight += 1

    def let_go(self) -> None:
        self._in_flight -= 1
        if self.reason and not self._in_flight:
            self._idle.set()

    def abandon(self) -> None:
        """Stop waiting for effects in flight."""
        self._idle.set()

    async def idle(self) -> None:
        """Returns when the gate is closed and nothing is in flight."""
        await self._idle.wait()

    def guard(self, perform: Callable[[], Any]) -> Any:
        """Run `perform`, plain or awaitable."""
        if self.reason:
            return _wait_for_ever()
        out = perform()
        return self._counted(out) if inspect.isawaitable(out) else out

    async def _counted(self, out: Awaitable[Any]) -> Any:
        self.hold()
        waiting = between_attempts.set(self._between)
        try:
            return await out
        finally:
            with suppress(ValueError):  # closed from elsewhere, as the loop ends
                between_attempts.reset(waiting)
            self.let_go()

    async def _between(self, seconds: float) -> None:
        """See `between_attempts`: once the gate is closed, there is no further attempt."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()
            self.let_go()
            try:
                await _wait_for_ever()
            finally:
                self.hold()


async def _wait_for_ever() -> NoReturn:
    await asyncio.Future()
    raise AssertionError("nothing resolves this future")


class GatedWorld(World):
    """A world in which every effect passes a gate. Drive its flows with `arun`."""

    def __init__(self, world: World, gate: Gate) -> None:
        super().__init__({})
        self._world, self._gate = world, gate

    def handler(self, effect: Effect[Any]) -> Handler:
        handler = self._world.handler(effect)
        # A flow handler's own effects come through here one by one.
        return handler if isinstance(handler, FlowHandler) else _Gated(handler, self._gate)

    def having(self, handlers: Mapping[type[Effect[Any]], Handler | Callable[[Any], Any]]) -> World:
        return GatedWorld(self._world.having(handlers), self._gate)


class _Gated(HandlerWrapper):
    def __init__(self, inner: Handler, gate: Gate) -> None:
        super().__init__(inner)
        self._gate = gate

    def perform(self, effect: Any, where: Where) -> Any:
        return self._gate.guard(lambda: self.inner.perform(effect, where))
