"""Connection to one model: attempts, waits, rate limits and prices around `ChatModel.complete`."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
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
from naisei.models.replies import folded, shown
from naisei.models.thoughts import parted, spoken

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

    def note(self, what: str) -> None:
        """Something that the log should say of the last reply."""
        last = self.sent[-1]
        assert isinstance(last, dict)
        last["note"] = "; ".join([str(last["note"]), what] if "note" in last else [what])

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


@dataclass(frozen=True, slots=True)
class Form:
    """How a model is asked: for structure, and with its instructions as a system message or
    folded into the user's words."""

    mode: Mode
    folded: bool = False

    def shape(self, request: ChatRequest) -> ChatRequest:
        """The request in this form. One with a mode of its own keeps that."""
        messages, mode = request.messages, request.mode
        if request.schema is not None and mode is None:
            mode = self.mode
            messages = shown(messages, request.schema, mode)
        return replace(request, messages=folded(messages) if self.folded else messages, mode=mode)

    def missing(self, request: ChatRequest, first: Mode) -> list[str]:
        """What the request is sent without, for the log."""
        system = self.folded and any(m.role == "system" for m in request.messages)
        weaker = request.schema is not None and self.mode != first
        return [*(["system messages"] if system else []), *([first] if weaker else [])]


#: Words of refusals that are about roles, and not about structure.
_OF_ROLES = re.compile(r"system|\broles?\b|jinja|chat.?template|alternat", re.IGNORECASE)


class Connection:
    """One model with what is known of its endpoint: whether it ever answered, the strongest form
    of request that it has not refused, and the sampling parameters that it has.

    adapts: whether a request that is refused is tried in weaker forms.
    """

    def __init__(
        self, model: ChatModel, throttle: Throttle, patience: RetryPolicy, *, adapts: bool = True
    ) -> None:
        self.model, self._throttle, self._patience = model, throttle, patience
        self._modes: tuple[Mode, ...] = getattr(model, "modes", _ALL_MODES)
        self._form = Form(self._modes[0])
        self._taken: set[tuple[Form, str]] = set()
        self._left_out: set[str] = set(getattr(model, "ignores", ()))
        self._met = self._headless = self._spoke = False
        self._adapts = adapts

    async def ask(self, request: ChatRequest, spent: CallCost) -> ChatReply:
        """One answered request, in the form that the endpoint takes.

        A refusal that vanishes in a weaker form (JSON in place of a schema, words alone, no system
        message) was one of the form, in whatever words: that form stays for the run. What does not
        vanish is raised as it came.

        Raises:
            Transient: no attempt of the call is left.
            Unusable: the endpoint refuses this request.
            InputError: nobody is there, or no request would be answered.
        """
        tried = False
        while True:
            form, key = self._form, request.schema.name if request.schema else ""
            known = (form, key) in self._taken
            others = [] if tried or not self._adapts else self._others(request, form, known)
            try:
                doubted = bool(others) and not known
                reply = await self._sent(self._answered, request, form, spent, doubted)
            except (Transient, Unusable) as error:
                if form != self._form:
                    continue  # learnt by another call meanwhile
                passes = isinstance(error, Transient)
                if not others or not error.of_form or (passes and known):
                    raise self.told(error) from error
                tried = True
                if (found := await self._weaker(request, form, others, spent, error)) is not None:
                    return found
                if not passes or spent.attempts >= self._patience.attempts:
                    raise self.told(error) from error
                continue
            self._taken.add((form, key))
            return reply

    def _others(self, request: ChatRequest, form: Form, known: bool) -> list[Form]:
        """Weaker forms that would send something else, likelier ones first."""
        modes = self._modes[self._modes.index(form.mode) :]
        if request.schema is None or request.mode is not None:
            modes = (form.mode,)
        found: list[Form] = []
        sent = [form.shape(request)]
        for folds in dict.fromkeys((form.folded, form.folded or not known)):
            for mode in modes:
                other = Form(mode, folds)
                if (shaped := other.shape(request)) not in sent:
                    found.append(other)
                    sent.append(shaped)
        return found

    async def _weaker(
        self,
        request: ChatRequest,
        form: Form,
        others: list[Form],
        spent: CallCost,
        error: Transient | Unusable,
    ) -> ChatReply | None:
        """The reply to the first of `others` that is answered, which stays; `None`: none is."""
        if _OF_ROLES.search(str(error)):
            others = sorted(others, key=lambda other: not other.folded)
        key = request.schema.name if request.schema else ""
        for other in others:
            try:
                reply = await self._sent(self._once, request, other, spent)
                break
            except (Transient, Unusable):
                continue
        else:
            return None
        if isinstance(error, Transient):
            try:  # a server that was ill for a moment takes the stronger form now
                reply = await self._sent(self._once, request, form, spent)
            except (Transient, Unusable):
                pass
            else:
                self._taken.add((form, key))
                return reply
        if self._form == form and (form, key) not in self._taken:
            self._form = other
            _LOG.warning("%s refuses %s (%s): %s from now on", self.model.name, form, error, other)
        self._taken.add((other, key))
        return reply

    async def _sent(
        self,
        send: Callable[..., Awaitable[ChatReply]],
        request: ChatRequest,
        form: Form,
        spent: CallCost,
        *options: bool,
    ) -> ChatReply:
        """`send` in a form. What the endpoint does not take of the sampling is left out, if that
        helps."""
        shaped, without = form.shape(request), set[str]()
        asked = {*request.sampling.to_json()}
        while True:
            less = replace(shaped, sampling=request.sampling.without(self._left_out))
            missing = form.missing(request, self._modes[0]) + sorted(asked & self._left_out)
            try:
                return await send(less, spent, missing, *options)
            except Unusable as error:
                refused = asked.intersection(error.refused) - self._left_out
                if not refused:
                    self._left_out -= without
                    raise
                without |= refused
                self._left_out |= refused

    def told(self, error: Transient | Unusable) -> Exception:
        """The failure as a user is told it: where nobody is there, and where all is hopeless, one
        message that ends the run."""
        url = getattr(self.model, "base_url", self.model.name)
        if isinstance(error, Unreachable) and not self._met:
            return nobody_there(self.model.name, url, str(error))
        if isinstance(error, Unusable) and error.hopeless:
            return self._hopeless(error)
        return error

    def silent(self, reply: ChatReply) -> Exception:
        """For a model that wrote everything but an answer."""
        where = reply.elsewhere
        error = Unusable(
            say(
                f"返事の本文が空です。モデルが書いたのは {where} だけです "
                f"(finish_reason: {reply.finish_reason})",
                f"the reply has no text: all that the model wrote is {where} "
                f"(finish_reason: {reply.finish_reason})",
            ),
            hopeless=not self._spoke,
            remedy=say(
                "出力トークンの上限を上げるか (--sampling ROLE.max_tokens=N)、思考を短くするか "
                "(--sampling reasoning_effort=low)、サーバーの思考の切り出し (reasoning parser) と"
                "道具の設定を直してください",
                "allow more tokens (--sampling ROLE.max_tokens=N), let it think less "
                "(--sampling reasoning_effort=low), or mend the server's reasoning parser",
            ),
        )
        return self.told(error)

    async def _answered(
        self, request: ChatRequest, spent: CallCost, missing: list[str], doubted: bool
    ) -> ChatReply:
        """One answered request, after as many attempts as it takes. doubted: two will do where the
        form may be to blame."""
        if spent.attempts >= self._patience.attempts:
            raise Transient(f"no usable reply in {spent.attempts} attempts; last: {spent.trouble}")
        tries = AsyncRetrying(
            retry=retry_if_exception_type(Transient),
            wait=self._patience.wait,
            stop=lambda state: self._give_up(state, spent, doubted),
            # What was paid for is to be logged: then it goes on, whatever is closed meanwhile.
            sleep=(None if spent.calls else between_attempts.get()) or asyncio.sleep,
            reraise=True,
        )
        return await tries(self._once, request, spent, missing)

    async def _once(self, request: ChatRequest, spent: CallCost, missing: list[str]) -> ChatReply:
        estimate = _estimate(request)
        if (told := request.told) is not None:
            heard = lambda text: told(spoken(text, headless=self._headless))  # noqa: E731
            request = replace(request, told=heard)
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
        exchanged = _exchanged(request, reply, missing)
        reply = self._without_thoughts(reply)
        if believable(request, reply):
            usd = price(self.model, reply)
        else:
            reply, usd = _uncounted(request, reply), None
            exchanged["note"] = "no token counts that are possible: each byte counts as a token"
        self._throttle.used(reply.input_tokens + reply.output_tokens, estimate)
        spent.add(reply, usd)
        spent.sent.append(exchanged)
        return reply

    def _without_thoughts(self, reply: ChatReply) -> ChatReply:
        found = parted(reply.text)
        self._headless = self._headless or found.headless
        self._spoke = self._spoke or bool(found.answer.strip())
        elsewhere = "thoughts" if found.thought else reply.elsewhere
        return replace(reply, text=found.answer, elsewhere=elsewhere)

    def _give_up(self, state: RetryCallState, spent: CallCost, doubted: bool) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if spent.attempts >= self._patience.attempts:
            return True
        if doubted and isinstance(error, Transient) and error.of_form:
            return state.attempt_number >= _DOUBTED
        if isinstance(error, Unreachable) and not self._met:
            return state.attempt_number >= self._patience.knocks
        wish = error.retry_after if isinstance(error, Transient) else None
        return wish is not None and wish > self._patience.longest_wish

    def _hopeless(self, error: Unusable) -> InputError:
        name = self.model.name
        refused = say(
            f"{name} の接続先に拒否されました: {error}", f"the endpoint of {name} refuses: {error}"
        )
        return InputError(
            f"{name}: {error}" if error.remedy else refused,
            place=getattr(self.model, "base_url", ""),
            remedy=error.remedy
            or say(
                "API キー、モデル名、URL、残高を確かめてください",
                "check the API key, the model's name, the URL and the account's credit",
            ),
        )


#: Attempts at a request in a form that was never taken, before weaker forms are tried.
_DOUBTED = 2
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


def _exchanged(request: ChatRequest, reply: ChatReply, missing: list[str]) -> dict[str, Any]:
    """A request as it was sent and the raw reply, for the log."""
    answer = {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    out: dict[str, Any] = {
        "request": request.body() if reply.sent is None else reply.sent,
        "reply": reply.raw or answer,
    }
    return out | ({"left_out": missing} if missing else {})


def _estimate(request: ChatRequest) -> int:
    """Tokens a request may use, before anybody has counted: a third of its UTF-8 bytes."""
    asked = sum(len(m.content.encode("utf-8", "surrogatepass")) for m in request.messages) // 3
    return asked + (request.sampling.max_tokens or 256)


def nobody_there(name: str, url: str, why: str) -> InputError:
    """For an endpoint that has never answered: no connection comes about."""
    from naisei.models.providers._environment import proxy_for

    if proxy := proxy_for(url):
        why = say(f"プロキシ {proxy} を経由: {why}", f"through the proxy {proxy}: {why}")
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
