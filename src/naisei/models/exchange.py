"""Performs one `Chat` effect: from messages to a validated value.

An unusable reply (empty, truncated, no JSON) is treated as a server fault: the identical
request is resent, so that server faults never change results. JSON that violates the schema
is the model's error: the model gets the error message back, once.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from naisei.core import Message
from naisei.models.base import ChatReply, ChatRequest, Schema, Transient
from naisei.models.connection import Connection
from naisei.models.costs import CallCost
from naisei.models.replies import Garbage, Violation, language_of, mended, read, schema_of


class Exchange:
    """Asks one model once.

    Args:
        line: the connection to the model.
        request: plain, with its final sampling.
        resends: identical requests after an unusable reply.
        spent: accumulates the cost, including failures.
    """

    def __init__(
        self, line: Connection, request: ChatRequest, *, resends: int, spent: CallCost
    ) -> None:
        self._line, self._request, self._resends, self._spent = line, request, resends, spent
        self._silent = 0

    async def text(self) -> str:
        """A text reply.

        Accepts a text cut at our own `max_tokens`, as intended. Resends the request if the endpoint
        cut the text.

        Raises:
            Transient: no usable reply.
            Unusable: refused.
        """
        request = self._request
        for left in range(self._resends, -1, -1):
            reply = await self._line.ask(request, self._spent)
            cut = reply.finish_reason == "length"
            if reply.text.strip() and (not cut or _at_own_limit(reply, request)):
                return reply.text
            if left == 0 and reply.text.strip() and request.sampling.max_tokens:
                return reply.text
            request = self._after(reply, request, "a text cut off" if cut else "an empty text")
        raise Transient(_complaint(reply, self._spent.trouble))

    def _after(self, reply: ChatReply, request: ChatRequest, why: str) -> ChatRequest:
        """The next request after an unusable reply: the same, or once with twice the tokens if it
        hit our own limit. A model that writes to another field gets no third request."""
        self._spent.lose(reply, why)
        if not reply.text.strip() and reply.elsewhere:
            self._silent += 1
            if self._silent > min(1, self._resends):
                raise self._line.silent(reply)
        elif request.schema is None:
            return request
        own = self._request.sampling
        if _at_own_limit(reply, request) and request.sampling == own:
            return replace(request, sampling=replace(own, max_tokens=2 * (own.max_tokens or 1)))
        return request

    async def structured(self, model: type[BaseModel]) -> BaseModel:
        """A reply that matches a schema.

        Raises:
            Transient: no usable reply, after resends and one repair.
            Unusable: refused.
        """
        messages = self._request.messages
        schema = schema_of(model, language_of(messages))
        try:
            return await self._valid(messages, schema, model)
        except _Unfit as unfit:
            errors, reply = unfit.errors, unfit.reply
        self._spent.repaired = True
        self._spent.trouble = "; ".join(errors) or self._spent.trouble
        try:
            return await self._valid(mended(messages, reply.text, schema, errors), schema, model)
        except _Unfit as unfit:
            what = "; ".join(unfit.errors) or "no JSON"
            raise Transient(_complaint(unfit.reply, f"{what}, even after a repair")) from unfit

    async def _valid(
        self, messages: tuple[Message, ...], schema: Schema, model: type[BaseModel]
    ) -> BaseModel:
        request = replace(self._request, messages=messages, schema=schema)
        for _ in range(self._resends + 1):
            reply = await self._line.ask(request, self._spent)
            notes: list[str] = []
            try:
                value = read(reply.text, model, language_of(messages), notes)
            except Violation as violation:
                if reply.finish_reason != "length":
                    raise _Unfit(violation.errors, reply) from violation
                why = "; ".join(violation.errors)
            except Garbage as garbage:
                why = garbage.reason
            else:
                # JSON may be complete even if the token limit cut off the text after it.
                for note in notes:
                    self._spent.note(note)
                return value
            cut = ", cut off at the token limit" if reply.finish_reason == "length" else ""
            request = self._after(reply, request, why + cut)
        raise _Unfit((), reply)


class _Unfit(Exception):
    """An unusable reply; without `errors` it is not JSON."""

    def __init__(self, errors: tuple[str, ...], reply: ChatReply) -> None:
        super().__init__("; ".join(errors))
        self.errors, self.reply = errors, reply


def _at_own_limit(reply: ChatReply, request: ChatRequest) -> bool:
    """Whether the reply hit our own limit (or may have, without token counts)."""
    limit = request.sampling.max_tokens
    if reply.finish_reason != "length" or limit is None:
        return False
    return reply.output_tokens == 0 or reply.output_tokens >= limit


def _complaint(reply: ChatReply, what: str) -> str:
    return f"the reply of {reply.model or 'the model'} cannot be used: {what}"
