"""The line to one model: attempts, waits and limits around `ChatModel.complete`."""

from __future__ import annotations

from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from naisei.core import InputError, Usage
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
from naisei.models.eager import Eager
from naisei.models.limits import Throttle
from naisei.models.prices import price
from naisei.models.retry import Patience

__all__ = ["Line", "Spent"]

_ALL_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


@dataclass(slots=True)
class Spent:
    """What one call has cost so far, failed and unusable replies included.

    trouble: why the last attempt gave no answer, in words.
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

    def lose(self, reply: ChatReply, why: str) -> None:
        """A reply, already added, was no answer."""
        self.lost_input += reply.input_tokens
        self.lost_output += reply.output_tokens
        self.trouble = why

    def add(self, reply: ChatReply, usd: float | None) -> None:
        self.calls += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
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
        )


class Line:
    """One model with what is known of its endpoint: whether it ever answered, and the
    strongest way of asking for structure that it has not refused."""

    def __init__(self, model: ChatModel, throttle: Throttle, patience: Patience) -> None:
        self.model, self._throttle, self._patience = model, throttle, patience
        self._modes: tuple[Mode, ...] = getattr(model, "modes", _ALL_MODES)
        self._met = False

    @property
    def mode(self) -> Mode:
        return self._modes[0]

    def weaken(self, refused: Mode) -> bool:
        """Ask for structure in a weaker way from now on; `False` if there is none."""
        if self._modes[0] == refused and len(self._modes) > 1:
            self._modes = self._modes[1:]
        return self._modes[0] != refused

    async def ask(self, request: ChatRequest, spent: Spent) -> ChatReply:
        """One answered request.

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
            reraise=True,
        )
        try:
            return await tries(self._once, request, spent)
        except Unreachable as error:
            if self._met:
                raise
            raise self._nobody(error) from error
        except Unusable as error:
            if error.hopeless:
                raise self._hopeless(error) from error
            raise

    async def _once(self, request: ChatRequest, spent: Spent) -> ChatReply:
        estimate = _estimate(request)
        async with self._throttle.request(estimate):
            spent.attempts += 1
            try:
                reply = await Eager(self.model.complete(request))
            except (Transient, Unusable) as error:
                self._met = self._met or not isinstance(error, Unreachable)
                self._throttle.used(0, estimate)
                spent.trouble = str(error)
                raise
        self._met = True
        self._throttle.used(reply.input_tokens + reply.output_tokens, estimate)
        spent.add(reply, price(self.model, reply))
        return reply

    def _give_up(self, state: RetryCallState, spent: Spent) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if spent.attempts >= self._patience.attempts:
            return True
        if isinstance(error, Unreachable) and not self._met:
            return state.attempt_number >= self._patience.knocks
        wish = error.retry_after if isinstance(error, Transient) else None
        return wish is not None and wish > self._patience.longest_wish

    def _nobody(self, error: Unreachable) -> InputError:
        url = getattr(self.model, "base_url", self.model.name)
        return InputError(
            say(
                f"{self.model.name} の接続先につながりません ({error})",
                f"the endpoint of {self.model.name} cannot be reached ({error})",
            ),
            place=url,
            remedy=say(
                "サーバーを起動するか、正しい接続先を --base-url、OPENAI_BASE_URL、"
                "openai-compatible:NAME@http://HOST:PORT/v1 のどれかで指定してください",
                "start the server, or name the right one: --base-url, OPENAI_BASE_URL or "
                "openai-compatible:NAME@http://HOST:PORT/v1",
            ),
        )

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


def _estimate(request: ChatRequest) -> int:
    """Tokens a request may use, before anybody has counted: a third of its UTF-8 bytes."""
    asked = sum(len(m.content.encode("utf-8", "surrogatepass")) for m in request.messages) // 3
    return asked + (request.sampling.max_tokens or 256)
