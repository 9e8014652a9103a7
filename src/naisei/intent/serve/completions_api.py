"""`/v1/chat/completions` and `/v1/models`, for chat front ends that are there already."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naisei.core import EffectFailed, Event, InputError
from naisei.intent.serve.api import problem
from naisei.intent.serve.completions import MODEL, chunks, completion, dialogue_of, remember
from naisei.intent.serve.house import House
from naisei.intent.serve.requests import ChatRequest, read
from naisei.lang import say
from naisei.lengths import too_long

__all__ = ["chat_completions", "models"]

_PING = 15


async def models(request: Request) -> JSONResponse:
    """`GET /v1/models`."""
    listed = {"id": MODEL, "object": "model", "created": 0, "owned_by": "naisei"}
    return JSONResponse({"object": "list", "data": [listed]})


async def chat_completions(request: Request) -> Response:
    """`POST /v1/chat/completions`, whole or as a stream."""
    given = await read(request, ChatRequest)
    house: House = request.app.state.house
    if len(given.messages) > house.options.max_messages:
        limit = house.options.max_messages
        raise HTTPException(
            413, say(f"発言は {limit} 件までです", f"at most {limit} messages, please")
        )
    for message in given.messages:
        if message.role == "user" and (told := too_long(message.text, house.options.max_message)):
            raise HTTPException(413, told)
    user = str(getattr(request.state, "user", ""))
    dialogue = dialogue_of(given.messages, house.desk.sessions, user)
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    def count(event: Event) -> None:
        if event.usage is not None:
            usage["prompt_tokens"] += event.usage.input_tokens
            usage["completion_tokens"] += event.usage.output_tokens
            usage["total_tokens"] += event.usage.tokens

    turn = asyncio.create_task(house.desk.single(user, dialogue, on_event=count))
    if not given.stream:
        reply = await turn
        remember(reply, house.desk.sessions, user)
        return JSONResponse(completion(reply, usage))
    wants_usage = bool((given.stream_options or {}).get("include_usage"))

    async def events() -> AsyncIterator[dict[str, str]]:
        try:
            reply = await turn
        except (HTTPException, InputError, EffectFailed) as error:
            yield {"data": json.dumps(problem(error), ensure_ascii=False)}
            return
        remember(reply, house.desk.sessions, user)
        for chunk in chunks(reply, usage if wants_usage else None):
            yield {"data": json.dumps(chunk, ensure_ascii=False)}
        yield {"data": "[DONE]"}

    return EventSourceResponse(events(), ping=_PING)
