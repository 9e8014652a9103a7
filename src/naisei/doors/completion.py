"""One chat completion with the features of `naisei proxy`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from naisei.core import Chat, InputError, MemoryLog, NaiseiError, World, arun
from naisei.director.gate import Gate
from naisei.director.schemas import Turn
from naisei.doors.acting import AskBeforeAct
from naisei.doors.commands import ProxyOptions
from naisei.doors.documents import Documents
from naisei.doors.exchange import Declined, Notes, Question, spent
from naisei.doors.speaking import Tried, reflect
from naisei.doors.talking import Talks
from naisei.doors.threads import mark_of
from naisei.intent.serve.api import error_body, with_sources
from naisei.intent.serve.completions import Chunks, as_data, completion, dialogue_of
from naisei.japanese.answers import Stance, understand
from naisei.lang import language, say
from naisei.models.gateway import ModelHandler
from naisei.models.thoughts import Listener
from naisei.runs.spans import traced

#: Maximum number of characters of a message that a flow reads.
_READ = 4_000
_WRONG_EN = re.compile(r"^\s*(no\b|wrong|that'?s (not|wrong)|not what i)", re.IGNORECASE)


class Upstream(Protocol):
    """The proxy's resources for a completion. url: up to `/v1`. notes: stored memos and
    questions."""

    url: str
    options: ProxyOptions
    client: httpx2.AsyncClient
    notes: Notes
    desk: AskBeforeAct[None] | None
    documents: Documents | None
    talks: Talks

    async def forward(self, request: Request, path: str, content: bytes) -> httpx2.Response: ...

    def headers(self, request: Request) -> dict[str, str]: ...


@dataclass
class Completion:
    """One completion with features. body: body of the request, with the upstream model's name."""

    proxy: Upstream
    request: Request
    body: dict[str, Any]
    wanted: Mapping[str, str]

    def __post_init__(self) -> None:
        self.user = self.request.headers.get("x-naisei-user") or str(self.body.get("user") or "")
        self.said = [(str(m.get("role")), _text(m.get("content"))) for m in self.body["messages"]]
        #: Our own model calls; cost of the upstream's drafts; finish reason and headers of the
        #: last draft; content of the reply's field `naisei`.
        self.log = MemoryLog()
        self.paid: list[Mapping[str, Any]] = []
        self.finish, self.headers = "stop", dict[str, str]()
        self.told: dict[str, Any] = {}

    async def answer(self) -> Response:
        """Return the reply, whole or as a stream."""
        if "talk" in self.wanted:
            talks, model = self.proxy.talks, self.body["model"]
            return self._reply(
                await talks.reply(model, self.user, self._recent_messages(), self.log)
            )
        if "memo" in self.wanted and self.user:
            await self._remember()
        if "ask" in self.wanted and (question := await self._ask()) is not None:
            return self._reply(question)
        if "ground" in self.wanted:
            return self._reply(await self._answer_from_documents())
        if "check" not in self.wanted or self.body.get("tools"):
            # A model with tools may call them instead of replying: pass its reply on unchanged.
            return await self._forwarded()
        many = int(self.body.get("n") or 1)
        if not self.body.get("stream"):
            lines = await asyncio.gather(*(self._line() for _ in range(many)))
            return self._reply(*lines)
        if many > 1:
            told = say("stream では n は 1 です", "with stream, n is 1")
            raise InputError(told, place="n")
        pieces = self._gate()(self._write)()
        first = await anext(pieces, "")  # an upstream error has its own status
        return EventSourceResponse(self._events(first, pieces), ping=15, headers=self.headers)

    def _gate(self) -> Gate:
        character, _, policy = self.wanted["check"].partition(":")
        return Gate(
            character=character or "yana",
            hold="sentence",
            policy="refuse" if policy == "refuse" else "best",
            history=lambda: [text for role, text in self.said if role == "assistant"],
            on_turn=self._checked,
        )

    async def _line(self) -> str:
        return "".join([piece async for piece in self._gate()(self._write)()])

    def _checked(self, turn: Turn) -> None:
        """Report a line that was rejected, whether it was sent or withheld."""
        if turn.outcome in ("best", "refused"):
            reasons = list(turn.drafts[-1].reasons)
            self.told["check"] = {"outcome": turn.outcome, "reasons": reasons}
        if turn.outcome == "refused":
            self.finish = "content_filter"

    async def _remember(self) -> None:
        """Rewrite the user's memo if the user rejects the last reply; put the memo before the
        messages. A repeated conversation rewrites nothing."""
        await self.proxy.notes.aopen()
        key, spoken = f"memo:{self.user}", [s for s in self.said if s[0] in ("user", "assistant")]
        kept = self.proxy.notes.get(key)
        memo, after = (str(kept["memo"]), kept["after"]) if isinstance(kept, dict) else ("", "")
        here = mark_of(self.user, [text for _, text in spoken])
        if len(spoken) > 2 and here != after and _rejects(*spoken[-1]):
            tried = Tried(failure=spoken[-1][1][:_READ], outcome=spoken[-2][1][:_READ])
            assert self.proxy.options.model is not None
            world = traced(World({Chat: ModelHandler(self.proxy.options.model, blocking=False)}))
            given = spoken[-3][1][:_READ]
            memo = await arun(reflect(given, tried, memo, language()), world, log=self.log)
            await self.proxy.notes.aput(key, {"memo": memo, "after": here})
        if memo:
            head = say("このユーザーについての覚え書き", "Notes on this user")
            self._instruct(f"{head}\n{memo}")

    async def _ask(self) -> str | None:
        """Return the question, if one is needed; otherwise put the chosen action into the prompt.
        After a tool result nothing is asked."""
        assert self.proxy.desk is not None
        found = await self.proxy.desk.ahear(self.said, self.user, log=self.log)
        if isinstance(found, Question):
            self.told["ask"] = {"question": found.text, "options": list(found.options)}
            return found.text
        if isinstance(found, Declined):
            self.told["ask"] = {"declined": found.reason}
            told = say("ユーザーは何も望んでいません。", "The user wants none of the actions.")
            self._instruct(told + say("何も実行しません。", " Carry none out."))
            self.body = {k: v for k, v in self.body.items() if k not in ("tools", "tool_choice")}
        elif found is not None:
            self.told["ask"] = {"wanted": found.action}
            self._instruct(say(f"ユーザーが望むこと: {found.action}", f"Wanted: {found.action}"))
        return None

    async def _answer_from_documents(self) -> str:
        assert self.proxy.documents is not None
        await self.proxy.notes.aopen()
        heard = dialogue_of(self._recent_messages(), self._noted)
        reply = await self.proxy.documents.step(heard, log=self.log)
        text = with_sources(reply)
        if reply.asks:
            await self.proxy.notes.aput(self._mark(text), ["asked", *reply.options])
        return text

    def _recent_messages(self) -> list[tuple[str, str]]:
        return [(role, text[:_READ]) for role, text in self.said]

    def _noted(self, text: str) -> tuple[str, ...] | None:
        """Return the options of our question; `None` for other messages."""
        kept = self.proxy.notes.texts(self._mark(text))
        return tuple(kept[1:]) if kept else None

    def _mark(self, text: str) -> str:
        return f"ground:{mark_of(self.user, [text[:_READ]])}"

    def _instruct(self, text: str) -> None:
        """Add instructions for the model to the caller's own."""
        at = sum(1 for m in self.body["messages"] if m.get("role") in ("system", "developer"))
        messages = [*self.body["messages"]]
        messages.insert(at, {"role": "system", "content": text})
        self.body = {**self.body, "messages": messages}

    async def _forwarded(self) -> Response:
        """Return the upstream's own reply, with the cost of our calls and `naisei` added."""
        content = json.dumps(self.body, ensure_ascii=False).encode()
        reply = await self.proxy.forward(self.request, "chat/completions", content)
        if not reply.is_success:
            return passed_on(reply)
        if self.body.get("stream"):
            return passed_on(reply, Chunks(self.body["model"]).told(self.told) if self.told else "")
        made = json.loads(await reply.aread())
        self.paid.append(made.get("usage") or {})
        told = {"naisei": self.told} if self.told else {}
        return JSONResponse({**made, "usage": self._usage(), **told}, headers=kept_headers(reply))

    async def _write(self, reasons: Sequence[str] = ()) -> AsyncIterator[str]:
        """Stream a draft of the upstream model."""
        body = {k: v for k, v in self.body.items() if k != "n"}
        if reasons:
            told = say("前の案は次の理由で出せません。書き直してください。", "Write it anew:")
            more = {"role": "system", "content": "\n".join([told, *reasons])}
            body = {**body, "messages": [*body["messages"], more]}
        stream = self.proxy.client.stream(
            "POST",
            f"{self.proxy.url}/chat/completions",
            json={**body, "stream": True, "stream_options": {"include_usage": True}},
            headers=self.proxy.headers(self.request),
        )
        heard = Listener()
        async with stream as reply:
            if not reply.is_success:
                await reply.aread()
                reply.raise_for_status()
            self.headers = kept_headers(reply)
            async for line in reply.aiter_lines():
                data = line.removeprefix("data:").strip()
                if not line.startswith("data:") or data == "[DONE]":
                    continue
                chunk = json.loads(data)
                if chunk.get("usage"):
                    self.paid.append(chunk["usage"])
                for choice in chunk.get("choices", ())[:1]:
                    self.finish = choice.get("finish_reason") or self.finish
                    if said := heard((choice.get("delta") or {}).get("content") or ""):
                        yield said
        if said := heard(over=True):
            yield said

    def _reply(self, *texts: str) -> Response:
        """Build a reply with our text, repeated for each requested choice."""
        if self.body.get("stream"):
            return EventSourceResponse(self._events(texts[0], None), ping=15)
        many = texts if len(texts) > 1 else texts * int(self.body.get("n") or 1)
        made = completion(
            *many,
            usage=self._usage(),
            told=self.told or None,
            model=self.body["model"],
            finish=self.finish,
        )
        return JSONResponse(made, headers=self.headers)

    def _usage(self) -> dict[str, Any]:
        """The total usage: the upstream's drafts, including rejected ones, and our calls."""
        ours, used = spent(self.log), dict(self.paid[-1]) if self.paid else {}
        parts = {"prompt_tokens": ours.input_tokens, "completion_tokens": ours.output_tokens}
        for name, own in parts.items():
            used[name] = own + sum(int(each.get(name) or 0) for each in self.paid)
        return {**used, "total_tokens": used["prompt_tokens"] + used["completion_tokens"]}

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
        usage = self._usage() if asked else None
        for chunk in chunks.last("", usage, self.told or None, self.finish):
            yield chunk


#: Hop-by-hop headers, not forwarded.
HOP = {"host", "content-length", "connection", "transfer-encoding", "accept-encoding", "x-naisei"}


def kept_headers(reply: httpx2.Response) -> dict[str, str]:
    """Keep the upstream headers about the request: its id, when to retry, …"""
    gone = {*HOP, "content-encoding", "content-type", "date", "server"}
    return {k: v for k, v in reply.headers.items() if k.lower() not in gone}


def passed_on(reply: httpx2.Response, before: str = "") -> Response:
    """Yield a streamed reply; close it after use or on disconnect. before: an event of ours."""

    async def parts() -> AsyncIterator[bytes]:
        try:
            if before:
                yield f"data: {before}\n\n".encode()
            async for part in reply.aiter_bytes():
                yield part
        finally:
            await reply.aclose()

    kind = {"content-type": reply.headers.get("content-type", "application/json")}
    # Only valid HTTP status codes can be sent.
    status = reply.status_code if 200 <= reply.status_code < 600 else 502
    return StreamingResponse(parts(), status, headers={**kept_headers(reply), **kind})


def _rejects(role: str, text: str) -> bool:
    """Whether the user rejects the last reply."""
    if role != "user":
        return False
    return understand(text[:_READ]).stance is Stance.NO or _WRONG_EN.match(text) is not None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get("text", "")) for p in parts if isinstance(p, dict))
