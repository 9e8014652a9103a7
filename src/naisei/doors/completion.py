"""One chat completion with what naisei adds to it: the features of `naisei proxy`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naisei.core import Chat, NaiseiError, World, arun
from naisei.director.gate import Gate
from naisei.director.gate_calls import ModelHandler
from naisei.doors.acting import AskBeforeAct
from naisei.doors.commands import ProxyOptions
from naisei.doors.documents import Documents
from naisei.doors.exchange import Question
from naisei.doors.speaking import Notes, Tried, reflect
from naisei.intent.dialogue import Dialogue
from naisei.intent.serve.api import error_body, with_sources
from naisei.intent.serve.completions import Chunks, as_data, completion, dialogue_of, mark_of
from naisei.japanese.answers import Stance, understand
from naisei.lang import language, say
from naisei.models.thoughts import Listener

#: Characters of a message that a flow reads.
_READ = 4_000
_WRONG_EN = re.compile(r"^\s*(no\b|wrong|that'?s (not|wrong)|not what i)", re.IGNORECASE)


class Upstream(Protocol):
    """What a completion needs of the proxy. url: up to `/v1`. notes: memos and questions asked."""

    url: str
    options: ProxyOptions
    client: httpx2.AsyncClient
    notes: Notes
    desk: AskBeforeAct[None] | None
    documents: Documents | None

    async def forward(self, request: Request, path: str, content: bytes) -> Response: ...

    def headers(self, request: Request) -> dict[str, str]: ...


@dataclass
class Completion:
    """One completion with features. body: of the request, with the model's own name."""

    proxy: Upstream
    request: Request
    body: dict[str, Any]
    wanted: Mapping[str, str]

    def __post_init__(self) -> None:
        self.user = self.request.headers.get("x-naisei-user") or str(self.body.get("user") or "")
        self.said = [(str(m.get("role")), _text(m.get("content"))) for m in self.body["messages"]]
        self.last: dict[str, Any] = {}

    async def answer(self) -> Response:
        """The reply, whole or as a stream."""
        if "memo" in self.wanted:
            await self._remember()
        if "ask" in self.wanted and (question := await self._ask()) is not None:
            return self._told(question)
        if "ground" in self.wanted:
            return self._told(await self._ground())
        if "check" not in self.wanted or self.body.get("tools"):
            # A model with tools may call them in place of a line: its reply goes out as it comes.
            content = json.dumps(self.body, ensure_ascii=False).encode()
            return await self.proxy.forward(self.request, "chat/completions", content)
        write = Gate(
            character=self.wanted["check"] or "yana",
            hold="sentence",
            history=lambda: [text for role, text in self.said if role == "assistant"],
        )(self._write)
        if self.body.get("stream"):
            pieces = write()
            first = await anext(pieces, "")  # an upstream's refusal has its own status
            return EventSourceResponse(self._events(first, pieces), ping=15)
        text = "".join([piece async for piece in write()])
        return JSONResponse(self._completion(text))

    async def _remember(self) -> None:
        """Rewrite the user's memo if they say that the last reply was wrong; put it before all."""
        await self.proxy.notes.aopen()
        key, spoken = f"memo:{self.user}", [s for s in self.said if s[0] in ("user", "assistant")]
        memo = "".join(self.proxy.notes.get(key)[-1:])
        if len(spoken) > 2 and spoken[-1][0] == "user" and _rejects(spoken[-1][1]):
            tried = Tried(failure=spoken[-1][1][:_READ], outcome=spoken[-2][1][:_READ])
            assert self.proxy.options.model is not None
            world = World({Chat: ModelHandler(self.proxy.options.model, blocking=False)})
            given = spoken[-3][1][:_READ]
            memo = await arun(reflect(given, tried, memo, language()), world)
            await self.proxy.notes.aput(key, [memo])
        if memo:
            head = say("このユーザーについての覚え書き", "Notes on this user")
            self._instruct(f"{head}\n{memo}")

    async def _ask(self) -> str | None:
        """The question back, if one is to be asked; else what is wanted is told to the model."""
        assert self.proxy.desk is not None
        await self.proxy.notes.aopen()
        dialogue = self._dialogue()
        asked = [(e.question, e.answer) for e in dialogue.exchanges]
        found = await self.proxy.desk.adecide(dialogue.utterance[:_READ], asked)
        if isinstance(found, Question):
            await self._note(found.text, ())
            return found.text
        self._instruct(say(f"ユーザーが望むこと: {found.action}", f"Wanted: {found.action}"))
        return None

    async def _ground(self) -> str:
        assert self.proxy.documents is not None
        await self.proxy.notes.aopen()
        reply = await self.proxy.documents.step(self._dialogue())
        text = with_sources(reply)
        if reply.asks:
            await self._note(text, reply.options)
        return text

    def _dialogue(self) -> Dialogue:
        """The request that the last message belongs to, with the questions asked about it."""
        return dialogue_of([(role, text[:_READ]) for role, text in self.said], self._noted)

    async def _note(self, question: str, options: Sequence[str]) -> None:
        await self.proxy.notes.aput(self._mark(question), ["asked", *options])

    def _noted(self, text: str) -> tuple[str, ...] | None:
        """The options of a question of ours; `None` for what was none."""
        kept = self.proxy.notes.get(self._mark(text))
        return tuple(kept[1:]) if kept else None

    def _mark(self, text: str) -> str:
        return f"{self.user}:{mark_of(text[:_READ])}"

    def _instruct(self, text: str) -> None:
        """Put before the model what it should know, beside the caller's own instructions."""
        at = sum(1 for m in self.body["messages"] if m.get("role") in ("system", "developer"))
        messages = [*self.body["messages"]]
        messages.insert(at, {"role": "system", "content": text})
        self.body = {**self.body, "messages": messages}

    async def _write(self, reasons: Sequence[str] = ()) -> AsyncIterator[str]:
        """A draft of the upstream model, piece by piece."""
        body = self.body
        if reasons:
            told = say("前の案は次の理由で出せません。書き直してください。", "Write it anew:")
            more = {"role": "system", "content": "\n".join([told, *reasons])}
            body = {**body, "messages": [*body["messages"], more]}
        stream = self.proxy.client.stream(
            "POST",
            f"{self.proxy.url}/chat/completions",
            json={**body, "stream": True},
            headers=self.proxy.headers(self.request),
        )
        heard = Listener()
        async with stream as reply:
            if not reply.is_success:
                await reply.aread()
                reply.raise_for_status()
            async for line in reply.aiter_lines():
                data = line.removeprefix("data:").strip()
                if not line.startswith("data:") or data == "[DONE]":
                    continue
                chunk = json.loads(data)
                self.last = chunk.get("usage") or self.last
                for choice in chunk.get("choices", ())[:1]:
                    if said := heard((choice.get("delta") or {}).get("content") or ""):
                        yield said
        if said := heard(over=True):
            yield said

    def _told(self, text: str) -> Response:
        """A reply of ours."""
        if self.body.get("stream"):
            return EventSourceResponse(self._events(text, None), ping=15)
        return JSONResponse(self._completion(text))

    def _completion(self, text: str) -> dict[str, Any]:
        usage = self.last or dict.fromkeys(
            ("prompt_tokens", "completion_tokens", "total_tokens"), 0
        )
        return completion(text, usage, model=self.body["model"])

    async def _events(
        self, first: str, rest: AsyncIterator[str] | None
    ) -> AsyncIterator[dict[str, str]]:
        chunks = Chunks(self.body["model"])
        yield chunks.first(first)
        try:
            if rest is not None:
                async for piece in rest:
                    yield chunks.text(piece)
        except (httpx2.HTTPError, NaiseiError) as error:
            yield as_data(error_body(502, f"{type(error).__name__}: {error}"))
            return
        asked = (self.body.get("stream_options") or {}).get("include_usage")
        for chunk in chunks.last("", self.last or None if asked else None):
            yield chunk


def _rejects(text: str) -> bool:
    """Whether the user says that the last reply was not what they wanted."""
    return understand(text[:_READ]).stance is Stance.NO or _WRONG_EN.match(text) is not None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get("text", "")) for p in parts if isinstance(p, dict))
