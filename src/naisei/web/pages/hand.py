"""The page where people answer for models (`hand:`): pending requests, with a form for each."""

from __future__ import annotations

import asyncio
import json

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from naisei.core import InputError
from naisei.lang import say
from naisei.models.providers.hand import Ask, Mailbox, reply_of
from naisei.web.html import form_fields, fragment, page_response
from naisei.web.pages import Page


async def _start(request: Request) -> Response:
    return page_response(request, "hand/start.html", waiting=await _waiting())


async def _rows(request: Request) -> Response:
    return HTMLResponse(fragment("hand/_rows.html", waiting=await _waiting()))


async def _waiting() -> list[tuple[Ask, bool]]:
    """Each with whether it has a draft."""
    box = Mailbox()
    found = await asyncio.to_thread(box.waiting)
    return [(ask, any(box.draft(ask.id).values())) for ask in found]


async def _form(request: Request) -> Response:
    box = Mailbox()
    ask = await asyncio.to_thread(box.get, request.path_params["id"])
    if ask is None:
        return RedirectResponse("/hand", 303)
    return page_response(
        request,
        "hand/form.html",
        ask=ask,
        fields=[(name, part, _input_type(part)) for name, part in ask.fields.items()],
        draft=box.draft(ask.id),
        example=_example,
    )


def _input_type(part: dict[str, object]) -> str:
    """How a field is filled in."""
    if "enum" in part:
        return "choice"
    kind = str(part.get("type"))
    if kind == "array":
        items = part.get("items")
        return "json" if isinstance(items, dict) and "properties" in items else "lines"
    return {"integer": "number", "number": "number", "boolean": "yes", "string": "text"}.get(
        kind, "json"
    )


def _example(part: dict[str, object]) -> str:
    """An example of a field's JSON."""
    from naisei.models.providers.scripted import fill

    items = part.get("items")
    value = [fill(items)] if isinstance(items, dict) else fill(part)
    return json.dumps(value, ensure_ascii=False)


async def _draft(request: Request) -> Response:
    Mailbox().keep(request.path_params["id"], await form_fields(request))
    return Response(status_code=204)


async def _answer(request: Request) -> Response:
    """Then comes whatever waits next."""
    box, id = Mailbox(), request.path_params["id"]
    ask = box.get(id)
    if ask is None:
        raise HTTPException(410, say("もう待たれていません", "this request is no longer pending"))
    given = await form_fields(request)
    box.keep(id, given)
    try:
        reply = reply_of(ask, given)
    except InputError as error:
        raise HTTPException(422, f"{error.place}: {error.message}") from error
    box.answer(id, reply)
    left = await asyncio.to_thread(box.waiting)
    return Response(
        status_code=204, headers={"HX-Redirect": f"/hand/{left[0].id}" if left else "/hand"}
    )


PAGE = Page(
    name="hand",
    title=("人が答える", "By hand"),
    about=(
        "モデルの代わりに人が答えます。どの役割でも、--model hand:名前 で人にできます。",
        "People answer in the place of models: any role, by --model hand:NAME.",
    ),
    icon="M4 20h16M6 16l10-10 3 3-10 10H6z",
    order=90,
    routes=[
        Route("/hand", _start),
        Route("/hand/waiting", _rows),
        Route("/hand/{id}", _form),
        Route("/hand/{id}", _answer, methods=["POST"]),
        Route("/hand/{id}/draft", _draft, methods=["POST"]),
    ],
)
