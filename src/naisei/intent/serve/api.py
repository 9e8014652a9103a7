"""The server's own API: ask, stream, look up a passage, give feedback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import zip_longest
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    JsonValue,
    ValidationError,
)
from pydantic_core import from_json
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from naisei.core import EffectFailed, Event, InputError
from naisei.http import clean, cleaned, status_of
from naisei.intent.dialogue import Conversation
from naisei.intent.feedback import Sign
from naisei.intent.inquiry import Released
from naisei.intent.rules import fault
from naisei.intent.schemas import Reply
from naisei.intent.serve.state import ServerState
from naisei.intent.serve.turns import Session, TurnService
from naisei.lang import say

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def error_body(status: int, message: str) -> dict[str, Any]:
    """The body of an error, in the format that chat-completions clients expect."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "code": status}}


def _json(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error_body(status, message), status, headers=headers)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    headers = error.headers if isinstance(error, HTTPException) else None
    return _json(*status_of(error), dict(headers or {}))


#: For `Starlette(exception_handlers=…)`.
handlers: dict[Any, Any] = dict.fromkeys(
    (HTTPException, InputError, EffectFailed, Exception), _failed
)


T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)


class AskRequest(BaseModel):
    """One turn. session: continues a conversation; without it a new one begins. id: names the
    message in its session: whoever does not know whether it arrived sends it again under the same
    one, and it is answered once. Of a first message it needs 22 characters where there are no
    users."""

    model_config = ConfigDict(extra="forbid")

    message: str
    session: str | None = Field(default=None, max_length=100)
    id: str | None = Field(default=None, min_length=1, max_length=100)


class FeedbackRequest(BaseModel):
    """Feedback on a conversation's last turn; `undo` and `reset` revoke it."""

    model_config = ConfigDict(extra="forbid")

    session: str = Field(max_length=100)
    sign: Sign


class _Part(BaseModel):
    type: str
    text: str = ""


def _few(content: Any) -> Any:
    """Limit the parts, since each invalid one would be reported."""
    if isinstance(content, list) and len(content) > _PARTS:
        raise ValueError(say(f"{_PARTS} 個までです", f"at most {_PARTS}"))
    return content


#: Maximum number of parts of a message.
_PARTS = 1000


class ChatMessage(BaseModel):
    """One message of a chat-completions request; of parts, the text is taken."""

    role: str
    content: Annotated[str | list[_Part] | None, BeforeValidator(_few)] = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class ChatRequest(BaseModel):
    """A chat-completions request. Sampling and the like are the operator's: ignored here."""

    messages: Annotated[list[ChatMessage], FailFast(), Field(min_length=1)]
    model: str = ""
    stream: bool = False
    stream_options: dict[str, Any] | None = None

    def usage_of(self, usage: dict[str, int]) -> dict[str, int] | None:
        """Usage at the end of a stream, if requested."""
        return usage if (self.stream_options or {}).get("include_usage") else None


#: Maximum number of fields of a request: chat completions have about thirty.
_FIELDS = 100


async def read(request: Request, shape: type[B]) -> B:
    """Parse the body of a request.

    Raises:
        HTTPException: invalid JSON, or it does not match the schema.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Forms on other sites can send anything except this content type without a CORS preflight.
        raise HTTPException(415, say("application/json で送ってください", "send application/json"))
    body = await request.body()
    try:
        found = from_json(body)
    except ValueError:
        raise HTTPException(400, say("JSON として読めません", "the body is not JSON")) from None
    if isinstance(found, dict) and len(found) > _FIELDS:
        # Each unknown field would be reported.
        raise HTTPException(422, say("項目が多すぎます", "too many fields"))
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        raise HTTPException(422, fault(error)) from None


#: Seconds between comments, so that proxies keep a silent stream open.
PING = 15


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


def _user(request: Request) -> str:
    return str(getattr(request.state, "user", ""))


def groups_of(request: Request) -> frozenset[str]:
    """The caller's groups; none without users."""
    found: frozenset[str] = getattr(request.state, "groups", frozenset())
    return found


def _begun(turns: TurnService, request: Request, given: AskRequest) -> Session:
    """The session to continue, or a new one. Raises `HTTPException` for another user's."""
    user = _user(request)
    return turns.find(user, given.session) if given.session else turns.begin(user, given.id)


async def ask(request: Request) -> JSONResponse:
    """`POST /api/ask` {"message", "session"?} → the reply, with the session id."""
    given = await read(request, AskRequest)
    turns = _state(request).turns
    conversation = _begun(turns, request, given)
    reply = await turns.turn(conversation, given.message, groups=groups_of(request), mark=given.id)
    return JSONResponse({"session": conversation.id, **plain_reply(reply)})


async def ask_stream(request: Request) -> EventSourceResponse:
    """`POST /api/ask/stream`: the same as events.

    session {"session"}; step {"step"} for the current step; delta {"text"} with parts of the
    message (of a model's answer once written and supported); reply with the whole; done {}; or
    error, as an error's body.
    """
    given = await read(request, AskRequest)
    turns = _state(request).turns
    conversation = _begun(turns, request, given)
    queue: asyncio.Queue[tuple[str, dict[str, str]]] = asyncio.Queue()
    released = Released(lambda text: queue.put_nowait(("delta", {"text": text})), clean)

    def told(event: Event) -> None:
        role = event.request.get("role") if isinstance(event.request, dict) else None
        queue.put_nowait(("step", {"step": str(role or event.kind)}))

    turn = asyncio.create_task(
        turns.turn(
            conversation,
            given.message,
            groups=groups_of(request),
            mark=given.id,
            on_event=told,
            show=released.show,
        )
    )

    async def events() -> AsyncIterator[dict[str, str]]:
        yield _event("session", {"session": conversation.id})
        async for name, data in until(turn, queue):
            yield _event(name, data)
        try:
            reply = plain_reply(turn.result())
        except (HTTPException, InputError, EffectFailed) as error:
            yield _event("error", problem(error))
            return
        for piece in text_chunks(released.rest(str(reply["message"]))):
            yield _event("delta", {"text": piece})
        yield _event("reply", {"session": conversation.id, **reply})
        yield _event("done", {})

    return EventSourceResponse(events(), ping=PING)


async def until(turn: asyncio.Task[Any], queue: asyncio.Queue[T]) -> AsyncIterator[T]:
    """Yield events until the turn is over."""
    while not (turn.done() and queue.empty()):
        waiting = asyncio.create_task(queue.get())
        await asyncio.wait({waiting, turn}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            yield waiting.result()
        else:
            waiting.cancel()


def problem(error: Exception) -> dict[str, Any]:
    """The body that the error would have as a response."""
    return error_body(*status_of(error))


def _event(name: str, data: Any) -> dict[str, str]:
    return {"event": name, "data": json.dumps(data, ensure_ascii=False)}


async def session(request: Request) -> JSONResponse:
    """`GET /api/session/{id}`: the caller's turns, for a reopened page."""
    turns = _state(request).turns
    kept = turns.find(_user(request), request.path_params["id"])
    events = turns.events(kept)
    said = [event.result for event in events if event.kind == "ask"]
    replies = map(plain_reply, Conversation.from_log(events).replies)
    shown = [{"said": s, "reply": reply} for s, reply in zip_longest(said, replies)]
    return JSONResponse({"session": kept.id, "turns": shown})


async def passage(request: Request) -> JSONResponse:
    """`GET /api/passage/{id}`: the chunk that a citation refers to."""
    found = await _state(request).passage(request.path_params["id"], groups_of(request))
    if found is None:
        raise HTTPException(404, say("そのような箇所はありません", "no such passage"))
    return JSONResponse(cleaned(found))


async def feedback(request: Request) -> JSONResponse:
    """`POST /api/feedback` {"session", "sign"} → the user's new thresholds."""
    given = await read(request, FeedbackRequest)
    state = _state(request)
    return JSONResponse(state.feedback(state.turns.find(_user(request), given.session), given.sign))


#: Characters per part of a streamed text.
_PIECE = 24


def plain_reply(reply: Reply) -> dict[str, JsonValue]:
    """The reply as JSON, without markup. It omits uncited hits and failures, which are for the
    operator; `degraded` says that something failed. Each citation has a `link` to its passage."""
    data: Any = cleaned(reply.model_dump(mode="json", exclude={"hits", "failures"}))
    for citation in data["citations"]:
        citation["link"] = f"/api/passage/{quote(citation['chunk'], safe='')}"
    return {**data, "degraded": bool(reply.failures)}


def with_sources(reply: Reply) -> str:
    """The message with a list of its sources, for front ends that show text only."""
    lines = []
    for citation in reply.citations:
        where = " > ".join(citation.headings)
        page = f" p. {citation.page}" if citation.page else ""
        date = f" ({citation.date})" if citation.date else ""
        name = clean(f"{citation.path}{page}")
        if citation.url.startswith(("https://", "http://")):
            # This is the only link that the server adds; links in documents are removed.
            name = f"[{name}]({quote(citation.url, safe=_IN_URL)})"
        lines.append(f"[{citation.n}] {name}{clean(date + (' ' + where if where else ''))}")
    message = clean(reply.message)
    return "\n\n".join([message, "\n".join(lines)]) if lines else message


#: In a Markdown address: all except white space, brackets and quotation marks.
_IN_URL = "%/:?#[]@!$&*+,;=~-._"


def text_chunks(text: str) -> list[str]:
    """Split the text into parts for streaming."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
