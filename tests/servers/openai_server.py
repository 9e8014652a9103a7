"""An OpenAI-compatible server on loopback, with latency and faults, that counts its calls.

In a test:  `with OpenAIServer(reply=lambda messages, schema: "はい") as server: server.url`
Alone:      `python tests/servers/openai_server.py --latency 1 --fault-rate 0.2`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from servers.faults import Faults
from servers.filling import fill
from waiting import PATIENCE, until

#: From the messages and the JSON schema asked for (or `None`) to the reply's content.
Reply = Callable[[list[dict[str, Any]], dict[str, Any] | None], str]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def tokens(text: str) -> int:
    """How this server counts tokens: characters."""
    return len(text)


def filled(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """The default reply: the schema filled with first choices, or two words."""
    return "了解です" if schema is None else json.dumps(fill(schema), ensure_ascii=False)


class OpenAIServer:
    """Serves `/v1/chat/completions` and `/v1/models` from a thread of its own.

    reply: makes the content. latency: seconds before every answer. refuse_modes:
    `response_format` types refused with 400. respond: answers a body (sent to whatever path)
    with status, headers and data, or leaves it to the rest. context: told by `/v1/models`.
    holds: so many calls are answered; the others wait until `release()`, so that whoever asks
    can be looked at, or killed, just there. pauses: a stream stops once it has said this, until
    `release()`. streams: whether a stream that is asked for is sent.
    After use: `calls` (requests that came), `answered` (clean replies), `met` (faults by
    kind), `requests` (their bodies, if `keep`), `peak` (most in flight).
    """

    def __init__(
        self,
        reply: Reply = filled,
        *,
        latency: float = 0.0,
        holds: int | None = None,
        pauses: str | None = None,
        streams: bool = True,
        faults: Faults | None = None,
        refuse_modes: tuple[str, ...] = (),
        respond: Callable[[dict[str, Any]], tuple[int, dict[str, str], Any] | None] | None = None,
        tools: bool = False,
        logprobs: bool = False,
        context: int | None = None,
        models: tuple[str, ...] = ("test",),
        keep: bool = True,
        port: int = 0,
    ) -> None:
        self.reply, self.latency, self.faults = reply, latency, faults or Faults()
        self.refuse_modes, self.respond = refuse_modes, respond
        self.tools, self.logprobs, self.context, self.models = tools, logprobs, context, models
        self.keep = keep
        self.holds, self._released = holds, threading.Event()
        self.pauses, self.streams = pauses, streams
        self.calls = self.answered = self.peak = self._flying = 0
        self.met: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self._asked: Counter[str] = Counter()
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=port,
            interface="asgi3",
            lifespan="off",
            log_level="critical",
            access_log=False,
            timeout_keep_alive=60,
            backlog=4096,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def url(self) -> str:
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/v1"

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("the test server did not start")
            time.sleep(0.005)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=PATIENCE)

    def reached(self, calls: int, alive: subprocess.Popen[str] | None = None) -> None:
        """Returns once so many calls have come; fails if the process ends before that."""
        until(lambda: self.calls >= calls, alive)

    def left(self) -> None:
        """Returns once nobody is connected: all that a killed process had sent has come."""
        until(lambda: not self._server.server_state.connections)

    def release(self) -> None:
        """Answers what `holds` held back, and holds no more."""
        self._released.set()

    def wait(self) -> None:
        """Until the server ends (Ctrl-C when run alone)."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    async def _app(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            return
        raw = b""
        while True:
            message = await receive()
            raw += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"].endswith("/models"):
            await self._json(send, 200, {"object": "list", "data": self._list()})
        elif self.respond is not None or scope["path"].endswith("/chat/completions"):
            self._flying += 1
            self.peak = max(self.peak, self._flying)
            try:
                await self._chat(json.loads(raw), send)
            finally:
                self._flying -= 1
        else:
            await self._json(send, 404, {"error": {"message": "no such path"}})

    def _list(self) -> list[dict[str, Any]]:
        told = {"max_model_len": self.context} if self.context else {}
        return [{"id": name, "object": "model", **told} for name in self.models]

    async def _chat(self, body: dict[str, Any], send: Send) -> None:
        self.calls += 1
        if self.keep:
            self.requests.append(body)
        if self.holds is not None and self.calls > self.holds:
            while not self._released.is_set():
                await asyncio.sleep(0.005)
        if self.latency:
            await asyncio.sleep(self.latency)
        if self.respond is not None and (given := self.respond(body)) is not None:
            status, headers, data = given
            await self._json(send, status, data, headers)
            return
        content_key = json.dumps(body["messages"], sort_keys=True)
        attempt = self._asked[content_key]
        self._asked[content_key] += 1
        wanted = body.get("response_format") or {}
        if wanted.get("type") in self.refuse_modes:
            said = f"response_format type {wanted['type']} is not supported"
            await self._json(send, 400, {"error": {"message": said}})
            return
        fault = self.faults.draw(content_key, attempt)
        if fault is not None:
            self.met[fault] += 1
        if fault in ("429", "429-after", "500", "503"):
            headers = {"retry-after": self.faults.retry_after} if fault == "429-after" else {}
            await self._json(send, int(fault[:3]), {"error": {"message": "injected"}}, headers)
            return
        if fault == "slow":
            await asyncio.sleep(self.faults.slow_s)
        completion = self._completion(body, fault)
        if body.get("stream") and self.streams and fault is None:
            await self._stream(send, completion)
        else:
            await self._answer(send, completion, fault)

    async def _stream(self, send: Send, completion: dict[str, Any]) -> None:
        """Pieces of eight characters, the end, the usage."""
        self.answered += 1
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        choice = completion["choices"][0]
        text, said = choice["message"]["content"], ""

        async def tell(data: dict[str, Any]) -> None:
            line = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
            await send({"type": "http.response.body", "body": line, "more_body": True})

        for at in range(0, len(text), 8):
            said += text[at : at + 8]
            await tell({"choices": [{"index": 0, "delta": {"content": text[at : at + 8]}}]})
            if self.pauses is not None and self.pauses in said:
                while not self._released.is_set():
                    await asyncio.sleep(0.005)
        await tell(
            {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
        )
        await tell({"choices": [], "usage": completion["usage"]})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    def _completion(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        content = self.reply(body["messages"], schema)
        finish = "stop"
        if fault == "length":
            content, finish = content[: len(content) // 2], "length"
        elif fault == "prose" and schema is not None:
            content = "申し訳ありません、"
        elif fault == "empty":
            content = ""
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if self.tools and body.get("tools"):
            name = body["tools"][0]["function"]["name"]
            call = {"name": name, "arguments": '{"city": "Tokyo"}'}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
            finish = "tool_calls"
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish, "message": message}
        if self.logprobs and body.get("logprobs"):
            first = {"token": content[:1], "logprob": -0.1, "bytes": None, "top_logprobs": []}
            choice["logprobs"] = {"content": [first], "refusal": None}
        asked = sum(tokens(m["content"] or "") for m in body["messages"])
        used = {"prompt_tokens": asked, "completion_tokens": tokens(content)}
        used["total_tokens"] = sum(used.values())
        return {
            "id": f"chatcmpl-{self.calls}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body["model"],
            "choices": [choice],
            "usage": used,
        }

    async def _answer(self, send: Send, completion: dict[str, Any], fault: str | None) -> None:
        data = json.dumps(completion, ensure_ascii=False).encode()
        if fault == "not-a-completion":
            data = b'{"status": "ok"}'
        elif fault == "html":
            data = b"<html><body>502 Bad Gateway</body></html>"
        elif fault == "truncated":
            data = data[: len(data) // 2]
        if fault == "cut":
            await self._head(send, 200, len(data))
            await send({"type": "http.response.body", "body": data[:40], "more_body": True})
            raise ConnectionAbortedError("cut on purpose")
        if fault in (None, "slow", "trickle"):
            self.answered += 1
        await self._head(send, 200, len(data))
        if fault == "trickle":
            for i in range(20):
                await send(
                    {"type": "http.response.body", "body": data[i : i + 1], "more_body": True}
                )
                await asyncio.sleep(self.faults.slow_s / 20)
            data = data[20:]
        await send({"type": "http.response.body", "body": data})

    async def _json(
        self, send: Send, status: int, data: Any, headers: dict[str, str] | None = None
    ) -> None:
        raw = data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode()
        await self._head(send, status, len(raw), headers)
        await send({"type": "http.response.body", "body": raw})

    async def _head(
        self, send: Send, status: int, size: int, headers: dict[str, str] | None = None
    ) -> None:
        fields = {
            "content-type": "application/json",
            "content-length": str(size),
            **(headers or {}),
        }
        raw = [(k.encode(), v.encode()) for k, v in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--fault-kinds", default="", help="comma-separated; all by default")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    kinds = tuple(given.fault_kinds.split(",")) if given.fault_kinds else Faults().kinds
    faults = Faults(rate=given.fault_rate, kinds=kinds, seed=given.seed)
    server = OpenAIServer(latency=given.latency, faults=faults, keep=False, port=given.port)
    with server:
        print(server.url, flush=True)
        server.wait()


if __name__ == "__main__":
    main()
