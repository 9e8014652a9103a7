"""Routes of conversations, and of pages with conversations.

POST /conversations/<id>/answer   the user's answer: fields `step` and `text`, or those that the
                                  effect's reader takes. 204 once it is logged.
GET  /conversations/<id>/events   server-sent events: `line` for additions to the page, `status`
                                  for whose turn it is, `end` at the end.
POST /conversations/<id>/retry    retry the failed effect and continue.
POST /conversations/<id>/forget   delete the conversation.
GET  /conversations/<id>          its page.

GET  /<page>                      the start form, and the visitor's earlier conversations.
POST /<page>/new                  begin a conversation; optional first remark in `text`.
GET  /<page>/<id>                 the conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import FIELD
from naisei.runs.asking import NotAsked
from naisei.system.config import Flag, flags_of
from naisei.system.declare import Experiment
from naisei.system.execute import check_models
from naisei.web.conversations.kind import ConversationKind, PageConversation, Panel
from naisei.web.html import Refused, check_length, form_fields, page_response
from naisei.web.state import server_of
from naisei.web.visitors import without_script

C = TypeVar("C", bound=BaseModel)
#: Seconds between comments that keep a silent stream open.
_PING = 15
#: Milliseconds until the browser reconnects.
_AGAIN = 1000
#: Seconds that a page without JavaScript waits for the response to an answer.
_SEEN = 8


def routes() -> list[Route]:
    """Return the routes shared by all conversations."""
    prefix = "/conversations/{id}"
    return [
        Route(prefix, show),
        Route(f"{prefix}/answer", answer, methods=["POST"]),
        Route(f"{prefix}/events", events),
        Route(f"{prefix}/retry", retry, methods=["POST"]),
        Route(f"{prefix}/forget", forget, methods=["POST"]),
    ]


async def _requested(request: Request) -> PageConversation:
    conversations = server_of(request).conversations
    return await conversations.find(request.state.visitor, request.path_params["id"])


async def answer(request: Request) -> Response:
    fields = await form_fields(request)
    server = server_of(request)
    _fits(request, fields)
    visitor, id = request.state.visitor, request.path_params["id"]
    async with server.conversations.using(visitor, id) as conversation:
        await _answered(conversation, fields, fields.pop("step", ""))
        return await _gone_on(request, conversation)


def _fits(request: Request, fields: Mapping[str, str]) -> None:
    for value in fields.values():
        check_length(value, server_of(request).options.max_message)


async def _answered(
    conversation: PageConversation, fields: Mapping[str, str], step: str | None
) -> None:
    try:
        await conversation.answer(fields, step)
    except NotAsked as error:
        raise HTTPException(409, error.message) from None
    except TimeoutError:
        raise Refused(503, "保存できませんでした", "it could not be stored") from None


async def _gone_on(request: Request, conversation: PageConversation) -> Response:
    """Redirect to the page, for browsers without JavaScript, once there is something new."""
    if without_script(request.headers):
        with suppress(TimeoutError):
            async with asyncio.timeout(_SEEN):
                await conversation.rest()
        return RedirectResponse(f"/{conversation.kind.page}/{conversation.id}", 303)
    return Response(status_code=204)


async def events(request: Request) -> Response:
    conversation = await _requested(request)
    after = request.headers.get("last-event-id") or request.query_params.get("after", "0")
    if not after.isdecimal():
        raise Refused(400, "番号ではありません", "no number")
    return EventSourceResponse(_event_stream(request, conversation, int(after[:9])), ping=_PING)


async def _event_stream(
    request: Request, conversation: PageConversation, after: int
) -> AsyncIterator[bytes]:
    """Stream messages; those available at the same time are sent together."""
    yield ServerSentEvent(comment="naisei", retry=_AGAIN).encode()
    now: PageConversation | None = conversation
    seen: dict[str, str] = {}
    while now is not None:
        conversation = now
        async for number, events, status in conversation.follow(after):
            after, first = number, number - len(events) + 1
            out = [
                ServerSentEvent(text, event="line", id=str(n)).encode()
                for n, event in enumerate(events, first)
                if (text := conversation.kind.added(conversation, event, seen))
            ]
            if status is not None:
                text = conversation.kind.status(conversation)
                out.append(ServerSentEvent(text, event="status").encode())
            if out:
                yield b"".join(out)
        if conversation.over:
            yield ServerSentEvent("", event="end").encode()
            return
        now = await server_of(request).conversations.moved(request.state.visitor, conversation)


async def retry(request: Request) -> Response:
    conversations = server_of(request).conversations
    visitor, id = request.state.visitor, request.path_params["id"]
    async with conversations.using(visitor, id) as conversation:
        conversation.retry()
        return await _gone_on(request, conversation)


async def forget(request: Request) -> Response:
    conversations = server_of(request).conversations
    conversation = await _requested(request)
    page = conversation.kind.page
    await conversations.forget(request.state.visitor, conversation.id)
    return Response(status_code=204, headers={"HX-Redirect": f"/{page}"})


async def show(request: Request) -> Response:
    conversation = await _requested(request)
    return RedirectResponse(f"/{conversation.kind.page}/{conversation.id}", 303)


def page_routes(
    kind: ConversationKind[C],
    *,
    experiment: Experiment[Any] | None = None,
    fields: Sequence[str] = (),
    start: Callable[[Request], Awaitable[Mapping[str, Any]]] | None = None,
    begin: Callable[[Request, Mapping[str, str]], Awaitable[tuple[C, str]]] | None = None,
    beside: Callable[
        [Request, PageConversation], Sequence[Panel]
    ] = lambda request, conversation: (),
) -> list[Route]:
    """Return the routes of a page with conversations.

    Args:
        experiment: its flags make the kind's configuration, unless `begin` is set.
        fields: keys of the flags that a visitor may set. Never flags for files, which the server
            would read.
        start: context of the template `<page>/start.html` besides `model` (the server's) and
            `earlier` (conversations, which it may replace). Without a template the form has one
            field per flag.
        begin: returns the configuration from a form, and the title of the conversation. Raises
            `HTTPException` or `InputError` for invalid input.
        beside: further panels, specific to the visitor.
    """
    page = kind.page
    flags = [f for f in flags_of(kind.config) if f.key in fields]
    form = {"flags": flags}

    async def started(request: Request) -> Response:
        server = server_of(request)
        return page_response(
            request,
            f"{page}/start.html",
            otherwise="start.html",
            model=server.options.model,
            models=server.options.models,
            roles=tuple(kind.roles),
            **{
                "earlier": await server.conversations.entries(request.state.visitor, kind.name),
                **(await start(request) if start is not None else form),
            },
        )

    async def begun(request: Request) -> Response:
        given = {name: value.strip() for name, value in (await form_fields(request)).items()}
        first = given.pop("text", "")
        _fits(request, {"text": first})
        if begin is not None:
            config, title = await begin(request, given)
        elif experiment is not None:
            config = configured(experiment, flags, given, model_field(request, given))
            title = " · ".join(v for f in flags if f.kind is not bool and (v := given.get(f.key)))
        else:
            config, title = kind.config(), ""
        conversations = server_of(request).conversations
        made = await conversations.begin(
            request.state.visitor,
            kind,
            config,
            title=title or _title(request, page),
        )
        if first:
            await _answered(made, {"text": first}, None)
        if without_script(request.headers):
            return await _gone_on(request, made)
        return Response(status_code=204, headers={"HX-Redirect": f"/{page}/{made.id}"})

    async def shown(request: Request) -> Response:
        conversation = await conversation_of(request, kind)
        # A snapshot, since events may arrive during rendering.
        events = list(conversation.events)
        config = conversation.config
        return page_response(
            request,
            f"{page}/talk.html",
            otherwise="talk.html",
            conversation=conversation,
            kind=kind,
            after=len(events),
            lines=[line for e in events for line in kind.lines(config, conversation.id, e)],
            panels=[*kind.panels(config, events), *beside(request, conversation)],
            about=kind.about(config),
            writes=kind.writes(config),
            **kind.shown(conversation),
        )

    return [
        Route(f"/{page}", started),
        Route(f"/{page}/new", begun, methods=["POST"]),
        Route(f"/{page}/{{id}}", shown),
    ]


def model_field(request: Request, fields: Mapping[str, str]) -> str | None:
    """Return the model chosen in the form, by default the server's first; `None` without a model.

    Raises:
        HTTPException: the server does not offer this model.
    """
    options = server_of(request).options
    chosen = fields.get("model", "")
    if chosen and chosen not in options.models:
        raise Refused(422, "そのモデルは選べません", "this model is not offered here")
    return chosen or options.model


def number_field(fields: Mapping[str, str], name: str, most: int, what: str) -> int:
    """Read a form field with an integer ≥ 1. what: its name for people."""
    given = fields.get(name, "")
    if not given.isdecimal() or not 1 <= int(given[:4]) <= most:
        raise InputError(say(f"1 から {most} までです", f"must be 1 to {most}"), place=what)
    return int(given)


async def conversation_of(request: Request, kind: ConversationKind[Any]) -> PageConversation:
    """Return the visitor's conversation of this kind named in the URL. Raises `HTTPException`."""
    conversations = server_of(request).conversations
    return await conversations.find(request.state.visitor, request.path_params["id"], kind)


def _title(request: Request, page: str) -> str:
    return next((say(*p.title) for p in server_of(request).pages if p.name == page), page)


def configured(
    experiment: Experiment[Any], flags: Sequence[Flag], fields: Mapping[str, str], model: str | None
) -> Any:
    """Return the configuration from the flags, as the command does. Raises `InputError` for invalid
    values."""
    from naisei.cli.flags import configurations

    given: dict[str, Any] = {"model": model} if model else {}
    for flag in flags:
        text = fields.get(flag.key, "")
        check_length(text, FIELD)
        if text and flag.choices and text not in flag.choices:
            known = ", ".join(map(str, flag.choices))
            raise InputError(
                say(f"{known} のどれかです", f"must be one of {known}"), place=flag.key
            )
        if flag.kind is bool:
            given[flag.key] = bool(text)
        elif text:
            given[flag.key] = [text] if flag.many else text
    (config,) = configurations(experiment, **given).values()
    check_models(experiment, config)
    return config
