"""Streams sentence by sentence: each is checked together with the earlier ones.

A sentence waits for its end, not for the end of the reply. Spoken sentences cannot be taken back: a
reply that fails later ends there.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from typing import cast

from naisei.core import Status
from naisei.director.character import Character
from naisei.director.config import TalkRules
from naisei.director.draft import best, checked
from naisei.director.gate_calls import Call
from naisei.director.schemas import Draft, Outcome, Turn
from naisei.director.state import TalkState

_END = re.compile(r"[。！？!?\n]+[」』）)]*")


class SentenceGate:
    """One turn of a streaming function. `let_out` yields sentences as soon as they pass."""

    def __init__(self, character: Character, state: TalkState, rules: TalkRules) -> None:
        self._character, self._state, self._rules = character, state, rules
        self._drafts: list[Draft] = []
        self._said = self._held = ""
        self._open, self._done = True, False
        self._latency: float | None = None

    async def let_out(self, call: Call) -> AsyncIterator[str]:
        """Yield passed sentences of `call`'s drafts, until a draft is complete or the retries are
        used up."""
        began = time.monotonic()
        while not self._done:
            self._held, self._open = "", True
            reasons = self._drafts[-1].reasons if self._drafts else ()
            async for piece in call.stream_draft(reasons):
                if (out := self._feed(piece)) != "":
                    self._latency = self._latency or time.monotonic() - began
                    yield out
                if not self._open:
                    break
            if (out := self._end()) != "":
                self._latency = self._latency or time.monotonic() - began
                yield out

    def _feed(self, piece: str) -> str:
        """Add text; returns the sentences that may be said now."""
        self._held += piece
        out = ""
        # The last mark may go on in the next piece (「！」「？」), so it waits for what follows.
        while self._open and (found := _END.search(self._held)) and found.end() < len(self._held):
            out += self._let(self._held[: found.end()], self._held[found.end() :])
        return out

    def _end(self) -> str:
        """End the draft; returns the sentences that may still be said."""
        out = self._let(self._held, "") if self._open and (self._held or not self._said) else ""
        if self._open or self._said or len(self._drafts) > self._rules.retries:
            self._done = True
        chosen = best(self._drafts) if self._rules.policy == "best" else None
        if self._done and not self._said and chosen is not None:
            out = self._said = self._drafts[chosen].text
        return out

    def turn(self) -> Turn:
        """How the turn ended."""
        rejected = self._drafts[-1].status is Status.RETRY
        outcome = "refused" if not self._said else "said"
        if self._said and rejected and len(self._drafts) > self._rules.retries:
            outcome = "best"
        status = self._drafts[-1].status if outcome == "said" and not rejected else Status.WARN
        return Turn(
            number=1,
            speaker=self._character.id,
            outcome=cast(Outcome, outcome),
            status=Status.RETRY if outcome == "refused" else status,
            text=self._said or None,
            drafts=tuple(self._drafts),
            chosen=None,
            latency=self._latency,
        )

    def _let(self, sentence: str, rest: str) -> str:
        draft = checked(
            self._said + sentence,
            self._character,
            self._state,
            self._rules.language,
            self._rules.rules,
        )
        if draft.status is Status.RETRY or not rest:
            self._drafts.append(draft)
        if draft.status is Status.RETRY:
            self._open = False
            return ""
        self._said, self._held = self._said + sentence, rest
        return sentence
