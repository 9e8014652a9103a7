"""The server's own interface: ask, stream, look a passage up, give feedback, upload."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from naisei.core import EffectFailed, Event, InputError
from naisei.http.clean import cleaned
from naisei.intent.serve.desk import Desk
from naisei.intent.serve.errors import error_body
from naisei.intent.serve.house import House
from naisei.intent.serve.requests import AskRequest, FeedbackRequest, read
from naisei.intent.serve.sessions import Talk
from naisei.intent.serve.uploads import store
from naisei.intent.serve.wire import pieces, plain_reply
from naisei.lang import say

__all__ = ["ask", "ask_stream", "documents", "feedback", "passage", "session"]

#: A comment is sent so often (seconds), so that proxies keep a silent stream open.
_PING = 15


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _user(request: Request) -> str:
    return str(getattr(request.state, "user", ""))


def _begun(desk: Desk, request: Request, given: AskRequest) -> Talk:
    return desk.talk(_user(request), given.session)


async def ask(request: Request) -> JSONResponse:
    """`POST /api/ask` {"message", "session"?} → the reply, with the session to go on with."""
    given = await read(request, AskRequest)
    desk = _house(request).desk
    talk = _begun(desk, request, given)
    reply = await desk.turn(talk, given.message)
    return JSONResponse({"session": talk.id, **plain_reply(reply)})


async def ask_stream(request: Request) -> EventSourceResponse:
    """`POST /api/ask/stream`: the same as events.

    session {"session"}, step {"step"} for what is being done, delta {"text"} with pieces of the
    message, reply with the whole, done {}; or error, as an error's body.
    """
    given = await read(request, AskRequest)
    desk = _house(request).desk
    talk = _begun(desk, request, given)
    steps: asyncio.Queue[str] = asyncio.Queue()

    def told(event: Event) -> None:
        role = event.request.get("role") if isinstance(event.request, dict) else None
        steps.put_nowait(str(role or event.kind))

    turn = asyncio.create_task(desk.turn(talk, given.message, on_event=told))

    async def events() -> AsyncIterator[dict[str, str]]:
        yield _event("session", {"session": talk.id})
        async for step in _until(turn, steps):
            yield _event("step", {"step": step})
        try:
            reply = plain_reply(turn.result())
        except (HTTPException, InputError, EffectFailed) as error:
            yield _event("error", problem(error))
            return
        for piece in pieces(str(reply["message"])):
            yield _event("delta", {"text": piece})
        yield _event("reply", {"session": talk.id, **reply})
        yield _event("done", {})

    return EventSourceResponse(events(), ping=_PING)


async def _until(turn: asyncio.Task[Any], steps: asyncio.Queue[str]) -> AsyncIterator[str]:
    """Steps as they come, until the turn is over and all were told."""
    while not (turn.done() and steps.empty()):
        waiting = asyncio.create_task(steps.get())
        await asyncio.wait({waiting, turn}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            yield waiting.result()
        else:
            waiting.cancel()


def problem(error: Exception) -> dict[str, Any]:
    """The body that an error would have had as a response."""
    if isinstance(error, HTTPException):
        return error_body(error.status_code, error.detail)
    if isinstance(error, EffectFailed):
        return error_body(502, say("モデルが応答しませんでした。", "The model gave no answer."))
    return error_body(503, say("ただいま答えられません。", "No answer can be given now."))


def _event(name: str, data: Any) -> dict[str, str]:
    return {"event": name, "data": json.dumps(data, ensure_ascii=False)}


async def session(request: Request) -> JSONResponse:
    """`GET /api/session/{id}`: the turns of one's own talk, for a page that is opened again."""
    talk = _house(request).desk.sessions.find(_user(request), request.path_params["id"])
    turns = [
        {"said": turn.said, "reply": plain_reply(turn.reply) if turn.reply else None}
        for turn in talk.turns
    ]
    return JSONResponse({"session": talk.id, "turns": turns})


async def passage(request: Request) -> JSONResponse:
    """`GET /api/passage/{id}`: the chunk behind a citation."""
    found = await _house(request).passage(request.path_params["id"])
    if found is None:
        raise HTTPException(404, say("そのような箇所はありません", "no such passage"))
    return JSONResponse(cleaned(found))


async def feedback(request: Request) -> JSONResponse:
    """`POST /api/feedback` {"session", "sign"} → the thresholds that hold for this user now."""
    given = await read(request, FeedbackRequest)
    house = _house(request)
    talk = house.desk.sessions.find(_user(request), given.session)
    if not talk.turns:
        raise HTTPException(409, say("まだ会話がありません", "there is no turn yet"))
    return JSONResponse(house.feedback(talk, given.sign))


async def documents(request: Request) -> JSONResponse:
    """`POST /api/documents` (multipart, field `file`): a document into the upload folder."""
    house = _house(request)
    folder = house.options.uploads
    if folder is None:
        raise HTTPException(404, say("アップロードは無効です", "uploading is switched off"))
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise HTTPException(
            415, say("multipart/form-data で送ってください", "send multipart/form-data")
        )
    async with request.form(max_files=1, max_fields=5) as form:
        given = form.get("file")
        if not isinstance(given, UploadFile):
            raise HTTPException(422, say("file がありません", "the field `file` is missing"))
        data = await given.read(house.options.max_upload + 1)
        name = given.filename or ""
    if len(data) > house.options.max_upload:
        raise HTTPException(413, say("ファイルが大きすぎます", "the file is too large"))
    target = await asyncio.to_thread(store, folder, name, data)
    return JSONResponse({"path": target.name, "bytes": len(data), "indexed": False}, 201)
