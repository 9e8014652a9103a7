"""The chat-completions protocol, for chat front ends that are there already."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from secrets import token_hex
from typing import Any

from pydantic import JsonValue
from sse_starlette.sse import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naisei.core import EffectFailed, InputError, MemoryLog, Where
from naisei.http import clean
from naisei.intent.dialogue import EARLIER, Dialogue
from naisei.intent.inquiry import Released
from naisei.intent.schemas import Reply
from naisei.intent.serve.api import (
    ChatMessage,
    ChatRequest,
    groups_of,
    pieces,
    plain_reply,
    problem,
    read,
    until,
    with_sources,
)
from naisei.intent.serve.state import ServerState
from naisei.intent.serve.turns import Sessions
from naisei.japanese.query_analysis import matter
from naisei.japanese.questions import parse
from naisei.lang import say
from naisei.lengths import LINE, MESSAGE, too_long

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


async def remember(reply: Reply, sessions: Sessions, user: str) -> None:
    """Note what kind of message this was, to know it when the caller sends it back."""
    options: JsonValue = list(reply.options) if reply.asks else None
    await sessions.note(user, _mark(with_sources(reply)), {"options": options})


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


# What chat front ends ask beside the person (Open WebUI, LibreChat, LobeChat, …): a title for the
# conversation, tags, follow-up questions, completions. They are no questions about documents.

_TASKS = (
    ("follow_ups", r"follow[- ]?ups?\b.*\b(?:questions?|prompts?)|関連質問|次の質問"),
    ("queries", r"\b(?:search )?quer(?:y|ies)\b"),
    ("text", r"\bautocomplet"),
    ("tags", r"\btags?\b|タグ"),
    (
        "title",
        r"\btitle\b|タイトル|題名|\b(?:name|summari[sz]e) (?:this|the) (?:chat|conversation)",
    ),
)
_TOLD = re.compile(
    r"^\s*#{1,4}\s*task\s*:"
    r"|^\s*(?:please )?(?:generate|provide|create|write|give|suggest)\b.{0,60}"
    r"\b(?:titles?|tags?|follow[- ]?ups?)\b.{0,80}\b(?:chat|conversation|dialogue|above)\b"
    r"|^\s*(?:name|summari[sz]e) (?:this|the) (?:chat|conversation)\b"
    r"|^.{0,40}(?:この|以下の|上の)(?:会話|対話|やり取り|チャット).{0,30}(?:タイトル|題名|タグ)を",
    re.IGNORECASE | re.DOTALL,
)
_HISTORY = re.compile(r"<chat_history>(.*?)(?:</chat_history>|\Z)", re.DOTALL | re.IGNORECASE)
_SAID = re.compile(r"^(?:user|human|ユーザー)\s*[:：]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TITLE, _TAGS, _SEEN = 30, 3, 20_000


def task_reply(messages: Sequence[ChatMessage]) -> str | None:
    """The answer to a front end's own task, from the words of the conversation alone; `None` for
    what a person said. A title, tags; no follow-ups or queries, since none are known to be
    answered. As JSON where the prompt speaks of it."""
    last = messages[-1].text[-_SEEN:] if messages else ""
    if messages and len(messages[-1].text) > _SEEN:
        last = messages[-1].text[:2000] + last
    if not messages or messages[-1].role != "user" or not _TOLD.search(last[:2000]):
        return None
    history = _HISTORY.search(last)
    orders = last[: history.start()] if history else last[:2000]
    first = orders[:400]
    kind = next((name for name, words in _TASKS if re.search(words, first, re.I | re.S)), "title")
    said = _SAID.findall(history[1]) if history else []
    said += [m.text for m in messages[:-1] if m.role == "user" and m.text.strip()]
    subject = " ".join(said[0].split()) if said else ""
    title = subject if len(subject) <= _TITLE else subject[: _TITLE - 1] + "…"
    values: dict[str, JsonValue] = {
        "title": title or say("資料への質問", "A question"),
        "tags": [*matter(subject)[:_TAGS]],
        "follow_ups": [],
        "queries": [],
        "text": "",
    }
    value = values[kind]
    if re.search(r"\bjson\b", orders, re.I):
        return json.dumps({kind: value}, ensure_ascii=False)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def completion(reply: Reply, usage: dict[str, int]) -> dict[str, Any]:
    """The response object. `naisei` holds the reply with its citations."""
    message = {"role": "assistant", "content": with_sources(reply)}
    return {
        **_head("chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage,
        "naisei": plain_reply(reply),
    }


class Chunks:
    """The same as a stream: the role, the text in pieces, the end with `naisei`, the usage."""

    def __init__(self) -> None:
        self._head = _head("chat.completion.chunk")

    def first(self) -> dict[str, Any]:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text})

    def last(self, rest: str, told: JsonValue, usage: dict[str, int] | None) -> Iterator[Any]:
        """rest: what was not sent yet."""
        yield from (self.text(piece) for piece in pieces(rest))
        yield self._chunk({}, "stop") | ({} if told is None else {"naisei": told})
        if usage is not None:
            yield {**self._head, "choices": [], "usage": usage}

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
        return {**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


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
    if (plain := task_reply(given.messages)) is not None:
        return _plain(plain, given)
    for message in given.messages:
        most = state.options.max_message if message.role == "user" else LINE
        if told := too_long(message.text, most):
            raise HTTPException(413, told)
    user = str(getattr(request.state, "user", ""))
    dialogue = await asyncio.to_thread(dialogue_of, given.messages, state.turns.sessions, user)
    # Messages in a row are one request, which is as long as one message may be.
    if told := too_long(dialogue.utterance, state.options.max_message):
        raise HTTPException(413, told)
    log = MemoryLog()
    queue: asyncio.Queue[str] = asyncio.Queue()
    released = Released(queue.put_nowait, clean)
    turn = asyncio.create_task(
        state.turns.single(
            user,
            dialogue,
            log,
            groups=groups_of(request),
            show=released.show if given.stream else None,
        )
    )
    if not given.stream:
        reply = await turn
        await remember(reply, state.turns.sessions, user)
        return JSONResponse(completion(reply, _usage(log)))
    wants_usage = bool((given.stream_options or {}).get("include_usage"))

    async def events() -> AsyncIterator[dict[str, str]]:
        told = Chunks()
        yield _data(told.first())
        async for text in until(turn, queue):
            yield _data(told.text(text))
        try:
            reply = turn.result()
        except (HTTPException, InputError, EffectFailed) as error:
            yield _data(problem(error))
            return
        await remember(reply, state.turns.sessions, user)
        rest, usage = released.rest(with_sources(reply)), _usage(log) if wants_usage else None
        for chunk in told.last(rest, plain_reply(reply), usage):
            yield _data(chunk)
        yield {"data": "[DONE]"}

    return EventSourceResponse(events(), ping=_PING)


def _plain(text: str, given: ChatRequest) -> Response:
    """What is no reply about documents, whole or as a stream."""
    if not given.stream:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = _usage(MemoryLog())
        return JSONResponse({**_head("chat.completion"), "choices": [choice], "usage": usage})
    wants_usage = bool((given.stream_options or {}).get("include_usage"))

    async def events() -> AsyncIterator[dict[str, str]]:
        told = Chunks()
        yield _data(told.first())
        for chunk in told.last(text, None, _usage(MemoryLog()) if wants_usage else None):
            yield _data(chunk)
        yield {"data": "[DONE]"}

    return EventSourceResponse(events(), ping=_PING)


def _data(data: JsonValue) -> dict[str, str]:
    return {"data": json.dumps(data, ensure_ascii=False)}


def _usage(log: MemoryLog) -> dict[str, int]:
    costs = [event.usage for event in log.read(Where().episode) if event.usage is not None]
    return {
        "prompt_tokens": sum(usage.input_tokens for usage in costs),
        "completion_tokens": sum(usage.output_tokens for usage in costs),
        "total_tokens": sum(usage.tokens for usage in costs),
    }
