"""One rule of a script: what it fits, and what it replies. See `naisei.models.scripts`."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from naisei.models.base import ChatRequest
from naisei.models.filling import fill

__all__ = ["Rule", "Tokens"]


class Tokens(BaseModel):
    """Token counts of a reply, ≥ 0; `None`: counted in characters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Annotated[int, Field(ge=0)] | None = None
    output: Annotated[int, Field(ge=0)] | None = None


class Rule(BaseModel):
    """Conditions and a reply."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    contains: str | tuple[str, ...] = ()
    regex: str | None = None
    look_in: Annotated[Literal["last", "system", "conversation"], Field(alias="in")] = "last"
    schema_name: Annotated[str | None, Field(alias="schema")] = None
    turn: int | None = None
    reply: JsonValue = None
    replies: tuple[JsonValue, ...] = ()
    by: Literal["turn", "hash"] = "turn"
    fill: dict[str, JsonValue] | None = None
    finish_reason: str = "stop"
    tokens: Tokens = Tokens()

    @model_validator(mode="after")
    def _sound(self) -> Rule:
        given = [name for name in ("reply", "replies", "fill") if name in self.model_fields_set]
        if len(given) != 1:
            raise ValueError("needs exactly one of reply, replies and fill")
        if given == ["replies"] and not self.replies:
            raise ValueError("replies is empty")
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"regex {self.regex!r}: {error}") from error
        return self

    @property
    def input_tokens(self) -> int | None:
        return self.tokens.input

    @property
    def output_tokens(self) -> int | None:
        return self.tokens.output

    def fits(self, request: ChatRequest) -> bool:
        """Whether every condition holds."""
        name = request.schema.name if request.schema else ""
        if self.schema_name is not None and self.schema_name != name:
            return False
        if self.fill is not None and request.schema is None:
            return False
        if self.turn is not None and self.turn != _turns(request):
            return False
        wanted = (self.contains,) if isinstance(self.contains, str) else self.contains
        if not wanted and self.regex is None:
            return True
        text = _text(request, self.look_in)
        if not all(part in text for part in wanted):
            return False
        return self.regex is None or _compiled(self.regex).search(text) is not None

    def reply_to(self, request: ChatRequest) -> JsonValue:
        """The reply: a text, or a JSON value."""
        if self.fill is not None and request.schema is not None:
            return fill(request.schema.json, self.fill)
        if not self.replies:
            return self.reply
        if self.by == "turn":
            return self.replies[min(_turns(request), len(self.replies) - 1)]
        digest = hashlib.sha256(_text(request, "conversation").encode("utf-8", "surrogatepass"))
        return self.replies[int.from_bytes(digest.digest()[:8], "big") % len(self.replies)]


@lru_cache(maxsize=1024)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _turns(request: ChatRequest) -> int:
    return sum(m.role == "assistant" for m in request.messages)


def _text(request: ChatRequest, where: str) -> str:
    if where == "last":
        return next((m.content for m in reversed(request.messages) if m.role == "user"), "")
    chosen = [m.content for m in request.messages if where != "system" or m.role == "system"]
    return "\n".join(chosen)
