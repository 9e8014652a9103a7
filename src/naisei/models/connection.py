"""Connection to one model: attempts, waits, rate limits and prices around `ChatModel.complete`."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from pydantic import JsonValue
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from naisei.core import InputError, Usage, between_attempts
from naisei.lang import say
from naisei.models.base import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Mode,
    ModelSettings,
    Transient,
    Unreachable,
    Unusable,
)

_LOG = logging.getLogger("naisei.models")
_LOG.addHandler(logging.NullHandler())

# Calls that run on until they really wait.
#
# HTTP libraries pause at many points only to be fair to other tasks. With some dozens of
# calls at a time that fairness makes waves: all requests are prepared in turns and leave
# together, all replies come together, and the endpoint idles while they are worked on.
# Passing over such pauses lets each request leave as soon as it is ready, so that preparing
# one overlaps with waiting for the others.

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


class Bucket:
    """A token bucket: `per_minute` units flow in evenly, at most `burst` of them wait.

    A unit may be owed: whoever comes next waits until the debt is paid.

    Args:
        per_minute: > 0.
        burst: units that may be taken at once; a second's worth (at least 1) by default.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        burst: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_minute / 60
        self._burst = max(1.0, self._rate) if burst is None else burst
        self._clock = clock
        self._level, self._at = self._burst, clock()

    def take(self, units: float) -> float:
        """Take `units`, on credit if need be; returns how many seconds to wait first."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        wait = max(0.0, (min(units, self._burst) - self._level) / self._rate)
        self._level -= units
        return wait

    def give_back(self, units: float) -> None:
        """Correct an estimate: units that were taken and not used (negative: used beyond)."""
        self._level = min(self._burst, self._level + units)


class Throttle:
    """What one model's endpoint is spared: held by every request while it is under way."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        given = settings or ModelSettings()
        self._slots = asyncio.Semaphore(given.concurrency)
        self._requests = _bucket(given.requests_per_minute)
        # Replies come in lumps of some thousand tokens: half a minute's worth may come at once.
        tokens = given.tokens_per_minute
        self._tokens = None if tokens is None else Bucket(tokens, burst=tokens / 2)

    @asynccontextmanager
    async def request(self, estimate: int) -> AsyncIterator[None]:
        """A slot for one request of about `estimate` tokens, once the limits allow it."""
        async with self._slots:
            wait = self._requests.take(1) if self._requests else 0.0
            if self._tokens:
                wait = max(wait, self._tokens.take(estimate))
            if wait > 0:
                await asyncio.sleep(wait)
            yield

    def used(self, tokens: int, estimate: int) -> None:
        """A request came back: its true tokens replace the estimate."""
        if self._tokens:
            self._tokens.give_back(estimate - tokens)


def _bucket(per_minute: float | None) -> Bucket | None:
    return None if per_minute is None else Bucket(per_minute)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a call is tried.

    attempts: requests in all, ≥ 1. first_wait, longest_wait: seconds; the wait doubles from
    one to the other, half of it by chance, so that calls that failed together do not return
    together. longest_wish: the longest `Retry-After` that is waited for. knocks: attempts at
    an endpoint that has never answered. resends: how often the identical request is sent
    again after a reply that is no answer.
    """

    attempts: int = 10
    first_wait: float = 0.25
    longest_wait: float = 30.0
    longest_wish: float = 300.0
    knocks: int = 3
    resends: int = 5

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: what the endpoint wishes, or the backoff."""
        error = state.outcome.exception() if state.outcome else None
        steps = min(state.attempt_number - 1, 30)
        backoff = min(self.longest_wait, self.first_wait * 2.0**steps)
        backoff *= random.uniform(0.5, 1.0)
        wish = error.retry_after if isinstance(error, Transient) else None
        if wish is None:
            return backoff
        # An endpoint that says "at once" again and again is not hammered for it.
        return max(wish * random.uniform(1.0, 1.1), backoff if steps > 2 else 0.0)


_PROVIDERS = {"openai", "anthropic", "google"}
#: Names that the list does not know: looking one up takes far longer than a hit.
_unknown: set[tuple[str, str]] = set()


def price(model: ChatModel, reply: ChatReply) -> float | None:
    """US dollars; 0 where the model is known to be free; `None` where nobody knows.

    A well-known name behind another endpoint (vLLM, Ollama, a proxy) has no known price.
    """
    if getattr(model, "free", False):
        return 0.0
    provider, _, name = model.name.partition(":")
    if provider not in _PROVIDERS or not _official(provider, getattr(model, "base_url", None)):
        return None
    name = reply.model or name
    if (provider, name) in _unknown:
        return None
    from genai_prices import Usage, calc_price

    used = Usage(
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cache_read_tokens=reply.cached_input,
    )
    try:
        return float(calc_price(used, name, provider_id=provider).total_price)
    except LookupError:
        _unknown.add((provider, name))
        return None


def _official(provider: str, url: str | None) -> bool:
    if url is None:
        return True
    host = urlsplit(url).hostname or ""
    hosts = {
        "openai": "api.openai.com",
        "anthropic": "api.anthropic.com",
        "google": "generativelanguage.googleapis.com",
    }
    return host == hosts[provider]


_ALL_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


@dataclass(slots=True)
class CallCost:
    """What one call has cost so far, failed and unusable replies included.

    trouble: why the last attempt gave no answer, in words. sent: each request, with what was
    answered, or why nothing was.
    """

    attempts: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    repaired: bool = False
    lost_input: int = 0
    lost_output: int = 0
    trouble: str = ""
    cached_input: int = 0
    reasoning: int = 0
    sent: list[JsonValue] = field(default_factory=list)

    def lose(self, reply: ChatReply, why: str) -> None:
        """A reply, already added, was no answer."""
        self.lost_input += reply.input_tokens
        self.lost_output += reply.output_tokens
        self.trouble = why

    def add(self, reply: ChatReply, usd: float | None) -> None:
        self.calls += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.cached_input += reply.cached_input
        self.reasoning += reply.reasoning
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def usage(self, role: str, model: str) -> Usage:
        """As the log keeps it. No reply, no price."""
        return Usage(
            role=role,
            model=model,
            calls=self.calls,
            attempts=self.attempts,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            usd=self.usd if self.calls else None,
            repaired=self.repaired,
            lost_input=self.lost_input,
            lost_output=self.lost_output,
            cached_input=self.cached_input,
            reasoning=self.reasoning,
            sent=tuple(self.sent),
        )


class Connection:
    """One model with what is known of its endpoint: whether it ever answered, the strongest way
    of asking for structure that it has not refused, and the sampling parameters that it has."""

    def __init__(self, model: ChatModel, throttle: Throttle, patience: RetryPolicy) -> None:
        self.model, self._throttle, self._patience = model, throttle, patience
        self._modes: tuple[Mode, ...] = getattr(model, "modes", _ALL_MODES)
        self._left_out: set[str] = set(getattr(model, "ignores", ()))
        self._met = False

    @property
    def mode(self) -> Mode:
        return self._modes[0]

    def weaken(self, refused: Mode) -> bool:
        """Ask for structure in a weaker way from now on; `False` if there is none."""
        if self._modes[0] == refused and len(self._modes) > 1:
            self._modes = self._modes[1:]
        return self._modes[0] != refused

    async def ask(self, request: ChatRequest, spent: CallCost) -> ChatReply:
        """One answered request. What the endpoint does not take of the sampling is left out.

        Raises:
            Transient, Unusable, InputError: as `_answered`.
        """
        while True:
            asked = {*request.sampling.to_json()}
            less = replace(request, sampling=request.sampling.without(self._left_out))
            try:
                return await self._answered(less, spent, sorted(asked & self._left_out))
            except Unusable as error:
                if not (refused := asked.intersection(error.refused) - self._left_out):
                    raise
                self._left_out |= refused

    async def _answered(
        self, request: ChatRequest, spent: CallCost, left_out: list[str]
    ) -> ChatReply:
        """One answered request, after as many attempts as it takes.

        Raises:
            Transient: no attempt of the call is left.
            Unusable: the endpoint refuses this request.
            InputError: nobody is there, or no request would be answered.
        """
        if spent.attempts >= self._patience.attempts:
            raise Transient(f"no usable reply in {spent.attempts} attempts; last: {spent.trouble}")
        tries = AsyncRetrying(
            retry=retry_if_exception_type(Transient),
            wait=self._patience.wait,
            stop=lambda state: self._give_up(state, spent),
            # What was paid for is to be logged: then it goes on, whatever is closed meanwhile.
            sleep=(None if spent.calls else between_attempts.get()) or asyncio.sleep,
            reraise=True,
        )
        try:
            return await tries(self._once, request, spent, left_out)
        except Unreachable as error:
            if self._met:
                raise
            raise nobody_there(
                self.model.name, getattr(self.model, "base_url", self.model.name), str(error)
            ) from error
        except Unusable as error:
            if error.hopeless:
                raise self._hopeless(error) from error
            raise

    async def _once(self, request: ChatRequest, spent: CallCost, left_out: list[str]) -> ChatReply:
        estimate = _estimate(request)
        async with self._throttle.request(estimate):
            spent.attempts += 1
            try:
                reply = await Eager(self.model.complete(request))
            except (Transient, Unusable) as error:
                self._met = self._met or not isinstance(error, Unreachable)
                self._throttle.used(0, estimate)
                spent.trouble = str(error)
                _LOG.info("%s, attempt %d: %s", self.model.name, spent.attempts, error)
                spent.sent.append({"error": str(error)})
                raise
        self._met = True
        told = _exchanged(request, reply, left_out)
        if believable(request, reply):
            usd = price(self.model, reply)
        else:
            reply, usd = _uncounted(request, reply), None
            told["note"] = "no token counts that are possible: each byte counts as a token"
        self._throttle.used(reply.input_tokens + reply.output_tokens, estimate)
        spent.add(reply, usd)
        spent.sent.append(told)
        return reply

    def _give_up(self, state: RetryCallState, spent: CallCost) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if spent.attempts >= self._patience.attempts:
            return True
        if isinstance(error, Unreachable) and not self._met:
            return state.attempt_number >= self._patience.knocks
        wish = error.retry_after if isinstance(error, Transient) else None
        return wish is not None and wish > self._patience.longest_wish

    def _hopeless(self, error: Unusable) -> InputError:
        return InputError(
            say(
                f"{self.model.name} の接続先に拒否されました: {error}",
                f"the endpoint of {self.model.name} refuses: {error}",
            ),
            place=getattr(self.model, "base_url", ""),
            remedy=say(
                "API キー、モデル名、URL、残高を確かめてください",
                "check the API key, the model's name, the URL and the account's credit",
            ),
        )


#: Tokens that an endpoint may add to the messages (schema, template), and those of thinking.
_ADDED, _THOUGHT = 65_536, 2_000_000


def _sizes(request: ChatRequest, reply: ChatReply) -> tuple[int, int]:
    """Bytes of the request's messages and of the reply in UTF-8: no text has more tokens."""
    texts = [m.content for m in request.messages]
    asked = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return asked, len(reply.text.encode("utf-8", "surrogatepass"))


def believable(request: ChatRequest, reply: ChatReply) -> bool:
    """Whether the token counts of an endpoint are possible: not negative, none for a text, nor more
    than the texts could have, with much room for what the endpoint adds and thinks."""
    asked, answered = _sizes(request, reply)
    return (
        min(asked, 1) <= reply.input_tokens <= asked + _ADDED
        and min(answered, 1) <= reply.output_tokens <= answered + _THOUGHT
        and 0 <= reply.cached_input <= reply.input_tokens
        and 0 <= reply.reasoning <= answered + _THOUGHT
    )


def _uncounted(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """With counts that a budget cannot be deceived by: as many as the texts have at most."""
    asked, answered = _sizes(request, reply)
    return replace(
        reply, input_tokens=asked, output_tokens=max(answered, 1), cached_input=0, reasoning=0
    )


def _exchanged(request: ChatRequest, reply: ChatReply, left_out: list[str]) -> dict[str, Any]:
    """A request as it was sent and the raw reply, for the log."""
    answer = {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    out: dict[str, Any] = {
        "request": request.body() if reply.sent is None else reply.sent,
        "reply": reply.raw or answer,
    }
    return out | ({"left_out": left_out} if left_out else {})


def _estimate(request: ChatRequest) -> int:
    """Tokens a request may use, before anybody has counted: a third of its UTF-8 bytes."""
    asked = sum(len(m.content.encode("utf-8", "surrogatepass")) for m in request.messages) // 3
    return asked + (request.sampling.max_tokens or 256)


def nobody_there(name: str, url: str, why: str) -> InputError:
    """For an endpoint that has never answered: no connection comes about."""
    return InputError(
        say(
            f"{name} の接続先につながりません ({why})",
            f"the endpoint of {name} cannot be reached ({why})",
        ),
        place=url,
        remedy=say(
            "サーバーを起動するか、正しい接続先を --base-url、OPENAI_BASE_URL、"
            "openai-compatible:NAME@http://HOST:PORT/v1 のどれかで指定してください",
            "start the server, or name the right one: --base-url, OPENAI_BASE_URL or "
            "openai-compatible:NAME@http://HOST:PORT/v1",
        ),
    )
