"""What requests may say: validated before anything else looks at it."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from naisei.intent.faults import fault
from naisei.intent.feedback import Sign
from naisei.lang import say

__all__ = ["AskRequest", "ChatMessage", "ChatRequest", "FeedbackRequest", "read"]

B = TypeVar("B", bound=BaseModel)


class AskRequest(BaseModel):
    """One turn. session: to go on with a talk; none begins one."""

    model_config = ConfigDict(extra="forbid")

    message: str
    session: str | None = Field(default=None, max_length=100)


class FeedbackRequest(BaseModel):
    """What a person thought of a talk's last turn; `undo` and `reset` take signs back."""

    model_config = ConfigDict(extra="forbid")

    session: str = Field(max_length=100)
    sign: Sign


class _Part(BaseModel):
    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """One message of a chat-completions request; of parts, the text is taken."""

    role: str
    content: str | list[_Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class ChatRequest(BaseModel):
    """A chat-completions request. Sampling and the like are the operator's: ignored here."""

    messages: list[ChatMessage] = Field(min_length=1)
    model: str = ""
    stream: bool = False
    stream_options: dict[str, Any] | None = None


async def read(request: Request, shape: type[B]) -> B:
    """The body of a request.

    Raises:
        HTTPException: no JSON, or none of this shape.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # A form of another site can send everything but this without asking the browser.
        raise HTTPException(415, say("application/json で送ってください", "send application/json"))
    body = await request.body()
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise HTTPException(400, say("JSON として読めません", "the body is no JSON")) from None
        raise HTTPException(422, fault(error)) from None
