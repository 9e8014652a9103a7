"""The addresses that every conversation has, whatever its page.

POST /sittings/<id>/answer   the person's answer: fields `step` and `text`, or others that the
                             effect's reader takes. 204 once it is kept.
GET  /sittings/<id>/events   what happens, as server-sent events: `line` for what an event adds
                             to the page, `standing` for whose turn it is, `end` when it is over.
POST /sittings/<id>/retry    go on where it failed.
POST /sittings/<id>/forget   remove it.
GET  /sittings/<id>          its page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import parse_qsl

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from naisei.lang import say
from naisei.lengths import too_long
from naisei.web.house import house_of
from naisei.web.sittings.sitting import Sitting

__all__ = ["routes"]

#: A comment is sent so often (seconds), so that proxies keep a silent stream open.
_PING = 15
#: The browser tries again after so many milliseconds.
_AGAIN = 1000


async def _found(request: Request) -> Sitting:
    sittings = house_of(request).sittings
    return await sittings.find(request.state.visitor, request.path_params["id"])


async def answer(request: Request) -> Response:
    sitting = await _found(request)
    fields = await _fields(request)
    most = house_of(request).options.max_message
    for value in fields.values():
        if told := too_long(value, most):
            raise HTTPException(413, told)
    await sitting.answer(fields.pop("step", ""), fields)
    return Response(status_code=204)


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form that holds no file, the last of a name. A page sends one a line."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, say("フォームの形で送ってください", "send it as a form"))
    try:
        found = parse_qsl(
            (await request.body()).decode(), keep_blank_values=True, max_num_fields=50
        )
    except ValueError:
        raise HTTPException(400, say("フォームとして読めません", "the body is no form")) from None
    return {name: value.replace("\r\n", "\n") for name, value in found}


async def events(request: Request) -> Response:
    sitting = await _found(request)
    after = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    if not after.isdecimal():
        raise HTTPException(400, say("番号ではありません", "no number"))
    return EventSourceResponse(_told(sitting, int(after[:9])), ping=_PING)


async def _told(sitting: Sitting, after: int) -> AsyncIterator[bytes]:
    """Messages; those of one moment in one piece."""
    yield ServerSentEvent(comment="naisei", retry=_AGAIN).encode()
    async for number, events, standing in sitting.follow(after):
        first = number - len(events) + 1
        out = [
            ServerSentEvent(text, event="line", id=str(n)).encode()
            for n, event in enumerate(events, first)
            if (text := sitting.kind.line(sitting, event))
        ]
        if standing is not None:
            text = sitting.kind.standing(sitting)
            out.append(ServerSentEvent(text, event="standing").encode())
        if out:
            yield b"".join(out)
    if sitting.over:
        yield ServerSentEvent("", event="end").encode()


async def retry(request: Request) -> Response:
    sittings = house_of(request).sittings
    await sittings.retry(request.state.visitor, request.path_params["id"])
    return Response(status_code=204)


async def forget(request: Request) -> Response:
    sittings = house_of(request).sittings
    sitting = await _found(request)
    page = sitting.kind.page
    await sittings.forget(request.state.visitor, sitting.id)
    return Response(status_code=204, headers={"HX-Redirect": f"/{page}"})


async def show(request: Request) -> Response:
    sitting = await _found(request)
    return RedirectResponse(f"/{sitting.kind.page}/{sitting.id}", 303)


def routes() -> list[Route]:
    return [
        Route("/sittings/{id}", show),
        Route("/sittings/{id}/answer", answer, methods=["POST"]),
        Route("/sittings/{id}/events", events),
        Route("/sittings/{id}/retry", retry, methods=["POST"]),
        Route("/sittings/{id}/forget", forget, methods=["POST"]),
    ]
