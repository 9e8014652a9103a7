"""The chat-completions protocol, for existing chat front ends."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from secrets import token_hex
from types import MappingProxyType
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
    PING,
    ChatMessage,
    ChatRequest,
    groups_of,
    plain_reply,
    problem,
    read,
    text_chunks,
    until,
    with_sources,
)
from naisei.intent.serve.state import ServerState
from naisei.intent.serve.turns import TurnService
from naisei.japanese.query_analysis import content_words
from naisei.japanese.questions import parse
from naisei.lang import say
from naisei.lengths import LINE, MESSAGE, too_long

#: The only model.
MODEL = "naisei-intent"


#: The topics offered by one of the server's questions back, maybe none; `None` for any other
#: message.
Options = Callable[[str], tuple[str, ...] | None]


def dialogue_of(said: Sequence[tuple[str, str]], options_of: Options) -> Dialogue:
    """The dialogue of the last message: a new request, or the answer to a question back.

    said: role and text of each message. Only the roles user and assistant are passed on:
    instructions are the server's own.

    Raises:
        HTTPException: the last message is not the user's.
    """
    turns = [turn for turn in said if turn[0] in ("user", "assistant") and turn[1].strip()]
    if not turns or turns[-1][0] != "user":
        raise HTTPException(
            400, say("最後は user の発言にしてください", "the last message must be the user's")
        )
    open_: Dialogue | None = None
    asked: tuple[str, tuple[str, ...]] | None = None
    earlier: tuple[str, ...] = ()
    for role, text in turns:
        if role == "assistant":
            if open_ is None:
                continue
            options = options_of(text)
            if options is None:
                earlier = (*earlier, " ".join(open_.own))[-EARLIER:]
                open_ = None
            asked = None if options is None else (text, options)
        elif open_ is None:
            open_ = Dialogue(utterance=text, earlier=earlier)
        elif asked is None:  # two messages in a row: one request
            open_ = open_.model_copy(update={"utterance": f"{open_.utterance}\n{text}"})
        else:
            open_ = open_.answered(asked[0], text, asked[1])
            asked = None
    assert open_ is not None
    return open_


async def remember(reply: Reply, turns: TurnService, user: str) -> None:
    """Record the kind of this message, to recognise it when the caller sends it back."""
    options: JsonValue = list(reply.options) if reply.asks else None
    await turns.note(user, mark_of(with_sources(reply)), {"options": options})


def _options(turns: TurnService, user: str) -> Options:
    """Whether a message is a question is looked up in the record of sent messages (`remember`); for
    any other message, it is inferred from the words."""

    def options(text: str) -> tuple[str, ...] | None:
        kept = turns.noted(user, mark_of(text))
        if isinstance(kept, dict):
            found = kept.get("options")
            return tuple(map(str, found)) if isinstance(found, list) else None
        # A question back is short, but a caller may send a long text as the assistant's.
        if len(text) > MESSAGE or "[1]" in text or not content_words(text):
            return None
        return () if parse(text).form != "none" or text.rstrip().endswith(("？", "?")) else None

    return options


def mark_of(text: str) -> str:
    """Key of a message, unchanged if a front end returns it with different white space."""
    return "said:" + hashlib.sha256("".join(text.split()).encode()).hexdigest()


# Background tasks of chat front ends (Open WebUI, LibreChat, LobeChat, …): a title for the
# conversation, tags, follow-up questions, completions. They are not questions about documents.

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
    """The answer to a front end's own task, from the words of the conversation only; `None` for a
    person's message. Returns a title or tags; no follow-ups or queries, since none is known to be
    answerable. JSON if the prompt mentions it."""
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
        "tags": [*content_words(subject)[:_TAGS]],
        "follow_ups": [],
        "queries": [],
        "text": "",
    }
    value = values[kind]
    if re.search(r"\bjson\b", orders, re.I):
        return json.dumps({kind: value}, ensure_ascii=False)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def completion(
    *texts: str,
    usage: Mapping[str, Any],
    told: JsonValue = None,
    model: str = MODEL,
    finish: str = "stop",
) -> dict[str, Any]:
    """The response object, with one choice per text. told: the reply with its citations, for
    `naisei`."""
    choices = [
        {
            "index": n,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish,
            "logprobs": None,
        }
        for n, text in enumerate(texts)
    ]
    made = {**_head("chat.completion", model), "choices": choices, "usage": usage}
    return made if told is None else {**made, "naisei": told}


class Chunks:
    """The response as a stream: the role, parts of the text, the end with `naisei`, the usage."""

    def __init__(self, model: str = MODEL) -> None:
        self._head = _head("chat.completion.chunk", model)

    def first(self, text: str = "") -> dict[str, str]:
        return self._chunk({"role": "assistant", "content": text})

    def text(self, text: str) -> dict[str, str]:
        return self._chunk({"content": text})

    def told(self, told: JsonValue) -> str:
        """The data of a chunk that contains only the field `naisei`."""
        return as_data({**self._head, "choices": [], "naisei": told})["data"]

    def last(
        self,
        rest: str,
        usage: Mapping[str, Any] | None,
        told: JsonValue = None,
        finish: str = "stop",
    ) -> Iterator[dict[str, str]]:
        """The last chunks. rest: the unsent text."""
        yield from (self.text(piece) for piece in text_chunks(rest))
        yield self._chunk({}, finish, {} if told is None else {"naisei": told})
        if usage is not None:
            yield as_data({**self._head, "choices": [], "usage": usage})
        yield {"data": "[DONE]"}

    def _chunk(
        self,
        delta: dict[str, str],
        finish: str | None = None,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return as_data({**self._head, "choices": [choice], **more})


def as_data(data: Any) -> dict[str, str]:
    """A message of an event stream."""
    return {"data": json.dumps(data, ensure_ascii=False)}


def _head(kind: str, model: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


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
    said = [(message.role, message.text) for message in given.messages]
    options_of = _options(state.turns, user)
    dialogue = await asyncio.to_thread(dialogue_of, said, options_of)
    # Consecutive messages form one request, with the length limit of one message.
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
        await remember(reply, state.turns, user)
        return JSONResponse(
            completion(with_sources(reply), usage=_usage(log), told=plain_reply(reply))
        )

    async def events() -> AsyncIterator[dict[str, str]]:
        chunks = Chunks()
        yield chunks.first()
        async for text in until(turn, queue):
            yield chunks.text(text)
        try:
            reply = turn.result()
        except (HTTPException, InputError, EffectFailed) as error:
            yield as_data(problem(error))
            return
        await remember(reply, state.turns, user)
        rest = released.rest(with_sources(reply))
        for chunk in chunks.last(rest, given.usage_of(_usage(log)), plain_reply(reply)):
            yield chunk

    return EventSourceResponse(events(), ping=PING)


def _plain(text: str, given: ChatRequest) -> Response:
    """A reply that is not about documents, whole or streamed."""
    usage = _usage(MemoryLog())
    if not given.stream:
        return JSONResponse(completion(text, usage=usage))

    async def events() -> AsyncIterator[dict[str, str]]:
        chunks = Chunks()
        yield chunks.first()
        for chunk in chunks.last(text, given.usage_of(usage)):
            yield chunk

    return EventSourceResponse(events(), ping=PING)


def _usage(log: MemoryLog) -> dict[str, int]:
    costs = [event.usage for event in log.read(Where().episode) if event.usage is not None]
    return {
        "prompt_tokens": sum(usage.input_tokens for usage in costs),
        "completion_tokens": sum(usage.output_tokens for usage in costs),
        "total_tokens": sum(usage.tokens for usage in costs),
    }
