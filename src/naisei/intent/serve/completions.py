"""The chat-completions protocol, for chat front ends that are there already."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from secrets import token_hex
from typing import Any

from pydantic import JsonValue
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naisei.core import EffectFailed, InputError, MemoryLog, Where
from naisei.intent.dialogue import EARLIER, Dialogue
from naisei.intent.schemas import Reply
from naisei.intent.serve.api import (
    ChatMessage,
    ChatRequest,
    pieces,
    plain_reply,
    problem,
    read,
    with_sources,
)
from naisei.intent.serve.state import ServerState
from naisei.intent.serve.turns import Sessions
from naisei.japanese.query_analysis import matter
from naisei.japanese.questions import parse
from naisei.lang import say
from naisei.lengths import MESSAGE, too_long

__all__ = ["MODEL", "chat_completions", "chunks", "completion", "dialogue_of", "models", "remember"]


#: The one model that there is.
MODEL = "naisei-intent"


def dialogue_of(messages: Sequence[ChatMessage], sessions: Sessions, user: str) -> Dialogue:
    """What the last message belongs to: a new request, or the answer to a question back.

    Whether an assistant's message was a question is known from when it was sent (`remember`);
    of one that this server never sent, it is read off its words. Messages of other roles are
    not passed on: instructions are the server's own.

    Raises:
        HTTPException: the last message is not the user's.
    """
    turns = [m for m in messages if m.role in ("user", "assistant") and m.text.strip()]
    if not turns or turns[-1].role != "user":
        raise HTTPException(
            400, say("最後は user の発言にしてください", "the last message must be the user's")
        )
    open_: Dialogue | None = None
    asked: tuple[str, tuple[str, ...]] | None = None
    earlier: tuple[str, ...] = ()
    for turn in turns:
        if turn.role == "assistant":
            if open_ is None:
                continue
            options = _options(turn.text, sessions, user)
            if options is None:
                earlier = (*earlier, " ".join(open_.said))[-EARLIER:]
                open_ = None
            asked = None if options is None else (turn.text, options)
        elif open_ is None:
            open_ = Dialogue(utterance=turn.text, earlier=earlier)
        elif asked is None:  # two messages in a row: one request
            open_ = open_.model_copy(update={"utterance": f"{open_.utterance}\n{turn.text}"})
        else:
            open_ = open_.answered(asked[0], turn.text, asked[1])
            asked = None
    assert open_ is not None
    return open_


def remember(reply: Reply, sessions: Sessions, user: str) -> None:
    """Note what kind of message this was, to know it when the caller sends it back."""
    options: JsonValue = list(reply.options) if reply.asks else None
    sessions.note(user, _mark(with_sources(reply)), {"options": options})


def _options(text: str, sessions: Sessions, user: str) -> tuple[str, ...] | None:
    """The topics that a question back offered, maybe none; `None` for what was no question."""
    kept = sessions.noted(user, _mark(text))
    if isinstance(kept, dict):
        options = kept.get("options")
        return tuple(map(str, options)) if isinstance(options, list) else None
    # A question back is short; what a caller says that we said is theirs to make long.
    if len(text) > MESSAGE or "[1]" in text or not matter(text):
        return None
    return () if parse(text).form != "none" or text.rstrip().endswith(("？", "?")) else None


def _mark(text: str) -> str:
    """Of a message as front ends may send it back: white space is theirs to change."""
    return "said:" + hashlib.sha256("".join(text.split()).encode()).hexdigest()


def completion(reply: Reply, usage: dict[str, int]) -> dict[str, Any]:
    """The response object. `naisei` holds the reply with its citations."""
    message = {"role": "assistant", "content": with_sources(reply)}
    return {
        **_head("chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage,
        "naisei": plain_reply(reply),
    }


def chunks(reply: Reply, usage: dict[str, int] | None) -> list[dict[str, Any]]:
    """The same as a stream: the role, the text in pieces, the end with `naisei`, the usage."""
    head = _head("chat.completion.chunk")

    def chunk(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    out = [chunk({"role": "assistant", "content": ""})]
    out += [chunk({"content": piece}) for piece in pieces(with_sources(reply))]
    out.append({**chunk({}, "stop"), "naisei": plain_reply(reply)})
    if usage is not None:
        out.append({**head, "choices": [], "usage": usage})
    return out


def _head(kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": MODEL,
    }


_PING = 15


async def models(request: Request) -> JSONResponse:
    """`GET /v1/models`."""
    listed = {"id": MODEL, "object": "model", "created": 0, "owned_by": "naisei"}
    return JSONResponse({"object": "list", "data": [listed]})


async def chat_completions(request: Request) -> Response:
    """`POST /v1/chat/completions`, whole or as a stream."""
    given = await read(request, ChatRequest)
    state: ServerState = request.app.state.server
    if len(given.messages) > state.options.max_messages:
        limit = state.options.max_messages
        raise HTTPException(
            413, say(f"発言は {limit} 件までです", f"at most {limit} messages, please")
        )
    for message in given.messages:
        if message.role == "user" and (told := too_long(message.text, state.options.max_message)):
            raise HTTPException(413, told)
    user = str(getattr(request.state, "user", ""))
    dialogue = dialogue_of(given.messages, state.turns.sessions, user)
    log = MemoryLog()
    turn = asyncio.create_task(state.turns.single(user, dialogue, log))
    if not given.stream:
        reply = await turn
        remember(reply, state.turns.sessions, user)
        return JSONResponse(completion(reply, _usage(log)))
    wants_usage = bool((given.stream_options or {}).get("include_usage"))

    async def events() -> AsyncIterator[dict[str, str]]:
        try:
            reply = await turn
        except (HTTPException, InputError, EffectFailed) as error:
            yield {"data": json.dumps(problem(error), ensure_ascii=False)}
            return
        remember(reply, state.turns.sessions, user)
        for chunk in chunks(reply, _usage(log) if wants_usage else None):
            yield {"data": json.dumps(chunk, ensure_ascii=False)}
        yield {"data": "[DONE]"}

    return EventSourceResponse(events(), ping=_PING)


def _usage(log: MemoryLog) -> dict[str, int]:
    costs = [event.usage for event in log.read(Where().episode) if event.usage is not None]
    return {
        "prompt_tokens": sum(usage.input_tokens for usage in costs),
        "completion_tokens": sum(usage.output_tokens for usage in costs),
        "total_tokens": sum(usage.tokens for usage in costs),
    }
