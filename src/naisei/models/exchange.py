"""One `Chat` effect carried out: from messages to a validated value.

A reply that is *no answer* (empty, cut off, no JSON) says nothing about the model: the
identical request is sent again, so that faults of a server never change results. JSON that
violates the schema is the model's own doing: it gets the error back, once.
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
    """Asks one model one thing.

    Args:
        line: the connection to the model.
        request: plain, with its final sampling.
        resends: identical requests after a reply that is no answer.
        spent: accumulates the cost, also of failures.
    """

    def __init__(
        self, line: Connection, request: ChatRequest, *, resends: int, spent: CallCost
    ) -> None:
        self._line, self._request, self._resends, self._spent = line, request, resends, spent
        self._silent = 0

    async def text(self) -> str:
        """A reply in words.

        A text cut at our own `max_tokens` is accepted, as intended. One cut off by the endpoint is
        requested again.

        Raises:
            Transient: no answer.
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
        """The next request after an unusable reply: the same, once with twice the tokens if it
        ended at our own limit. A model that writes elsewhere is not paid for a third time."""
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
        """A reply that satisfies a schema.

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
                # Complete JSON is complete, even where the token limit cut off what followed.
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
    """Whether the reply ended at the limit that we set (or possibly, without token counts)."""
    limit = request.sampling.max_tokens
    if reply.finish_reason != "length" or limit is None:
        return False
    return reply.output_tokens == 0 or reply.output_tokens >= limit


def _complaint(reply: ChatReply, what: str) -> str:
    return f"the reply of {reply.model or 'the model'} cannot be used: {what}"
