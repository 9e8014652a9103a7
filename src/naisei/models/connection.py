"""Connection to one model: attempts, waits, rate limits and prices around `ChatModel.complete`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from naisei.core import InputError, between_attempts
from naisei.lang import say
from naisei.models.base import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Mode,
    Transient,
    Unreachable,
    Unusable,
)
from naisei.models.costs import CallCost, believable, estimated, price, uncounted
from naisei.models.pacing import Eager, RetryPolicy, Throttle
from naisei.models.replies import folded, with_schema_in_words
from naisei.models.thoughts import parted, visible_so_far

_LOG = logging.getLogger("naisei.models")
_LOG.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a request: structured output mode, and instructions as a system message or inside
    the user's message."""

    mode: Mode
    folded: bool = False

    def shape(self, request: ChatRequest) -> ChatRequest:
        """The request in this form; a mode already set remains."""
        messages, mode = request.messages, request.mode
        if request.schema is not None and mode is None:
            mode = self.mode
            messages = with_schema_in_words(messages, request.schema, mode)
        return replace(request, messages=folded(messages) if self.folded else messages, mode=mode)

    def missing(self, request: ChatRequest, first: Mode) -> list[str]:
        """What the form omits, for the log."""
        system = self.folded and any(m.role == "system" for m in request.messages)
        weaker = request.schema is not None and self.mode != first
        return [*(["system messages"] if system else []), *([first] if weaker else [])]


_ALL_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


class Connection:
    """One model and the known state of its endpoint: whether it ever answered, the strongest
    accepted form, and the supported sampling parameters. adapts: retry a refused request in weaker
    forms.
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
        """Send a request in a form that the endpoint accepts.

        If a weaker form (JSON instead of a schema, prompt only, no system message) is accepted
        after a refusal, the form was the cause: the weaker form is used for the rest of the run.
        Raises other refusals.

        Raises:
            Transient: no attempts left.
            Unusable: the endpoint refuses this request.
            InputError: unreachable, or refuses every request.
        """
        tried = False
        while True:
            form, key = self._form, request.schema.name if request.schema else ""
            known, adapts = (form, key) in self._taken, self._adapts and not tried
            others = self._others(request, form, known) if adapts and not known else []
            try:
                reply = await self._sent(self._answered, request, form, spent, bool(others))
            except (Transient, Unusable) as error:
                if form != self._form:
                    continue  # found by another call meanwhile
                if adapts and known:
                    others = self._others(request, form, known)
                passes = isinstance(error, Transient)
                if not others or not error.of_form or (passes and known):
                    raise self.for_user(error) from error
                tried = True
                if (found := await self._weaker(request, form, others, spent, error)) is not None:
                    return found
                if not passes or spent.attempts >= self._patience.attempts:
                    raise self.for_user(error) from error
                continue
            self._taken.add((form, key))
            return reply

    def _others(self, request: ChatRequest, form: Form, known: bool) -> list[Form]:
        """Weaker forms that would change the request, most likely first."""
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
        """The reply to the first accepted form of `others`, used from now on; `None` if none is
        accepted."""
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
            # A server that failed temporarily accepts the stronger form now.
            for _ in range(_DOUBTED):
                try:
                    stronger = await self._sent(self._once, request, form, spent)
                except (Transient, Unusable):
                    continue
                spent.lose(reply, str(error))
                self._taken.add((form, key))
                return stronger
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
        """`send` in a form, without unsupported sampling parameters."""
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

    def for_user(self, error: Transient | Unusable) -> Exception:
        """The error for the user: if the endpoint is unreachable or refuses everything, one message
        ends the run."""
        url = getattr(self.model, "base_url", self.model.name)
        if isinstance(error, Unreachable) and not self._met:
            return nobody_there(self.model.name, url, str(error))
        if isinstance(error, Unusable) and error.hopeless:
            return self._hopeless(error)
        return error

    def silent(self, reply: ChatReply) -> Exception:
        """The error for a model that wrote no answer."""
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
                "(--sampling reasoning_effort=low), or fix the server's reasoning parser",
            ),
        )
        return self.for_user(error)

    async def _answered(
        self, request: ChatRequest, spent: CallCost, missing: list[str], doubted: bool
    ) -> ChatReply:
        """Send a request with retries. doubted: only two attempts, since the form may be the
        cause."""
        if spent.attempts >= self._patience.attempts:
            raise Transient(f"no usable reply in {spent.attempts} attempts; last: {spent.trouble}")
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._once(request, spent, missing)
            except Transient as error:
                if self._gives_up(error, attempt, spent, doubted):
                    raise
                seconds = self._patience.wait(attempt, error)
            # A paid reply must be logged even while closing.
            await ((None if spent.calls else between_attempts.get()) or asyncio.sleep)(seconds)

    async def _once(self, request: ChatRequest, spent: CallCost, missing: list[str]) -> ChatReply:
        estimate = estimated(request)
        if (on_text := request.on_text) is not None:
            heard = lambda text: on_text(visible_so_far(text, headless=self._headless))  # noqa: E731
            request = replace(request, on_text=heard)
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
            reply, usd = uncounted(request, reply), None
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

    def _gives_up(self, error: Transient, attempt: int, spent: CallCost, doubted: bool) -> bool:
        if spent.attempts >= self._patience.attempts:
            return True
        if doubted and error.of_form:
            return attempt >= _DOUBTED
        if isinstance(error, Unreachable) and not self._met:
            return attempt >= self._patience.connect_attempts
        wish = error.retry_after
        return wish is not None and wish > self._patience.max_retry_after

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


#: Attempts in a form never accepted so far, before weaker forms are tried.
_DOUBTED = 2


def _exchanged(request: ChatRequest, reply: ChatReply, missing: list[str]) -> dict[str, Any]:
    """The request sent and the raw reply, for the log."""
    answer = {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    out: dict[str, Any] = {
        "request": request.body() if reply.sent is None else reply.sent,
        "reply": reply.raw or answer,
    }
    return out | ({"left_out": missing} if missing else {})


def nobody_there(name: str, url: str, why: str) -> InputError:
    """The error for an endpoint that never answered: no connection."""
    from naisei.models.providers._endpoint import proxy_for

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
