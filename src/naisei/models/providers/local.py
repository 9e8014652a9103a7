"""`local:`: the embedded model. `local:NAME` for known weights, `local:/path/any.gguf`.

llama.cpp serves the OpenAI API on loopback. Unlike other endpoints, structured output uses our
grammar, one request runs at a time, the time-out is long, and replies are limited even if the
caller sets no limit.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import xllamacpp

from naisei.core import InputError, InstrumentFailure, Sampling
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest, Mode, ModelSettings, Unusable, check_allowed
from naisei.models.providers.openai import CompletionsModel
from naisei.models.weights import DEFAULT, NOTICE_EN, NOTICE_JA, locate


def _free_cores() -> int:
    """Cores available to this process and idle during the last minute; at least 1.

    llama.cpp's threads spin until all finish each layer, so one thread on a core used by
    another program slows all of them (measured on two cores, one busy: 7 tokens/s with two
    threads, 41 with one).
    """
    total = os.cpu_count() or 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, min(cores, round(total - busy)))


#: Tokens, prompt and reply together.
_CONTEXT = 8192


#: By file: the server, its URL and its key, which keeps web pages in a browser on this machine from
#: using the model.
_running: dict[Path, tuple[Any, str, str]] = {}
_lock = threading.Lock()


def serve(path: Path) -> tuple[str, str]:
    """URL (ends in `/v1`) and key of the server for these weights, started on first use; one per
    file and process.

    `NAISEI_LOCAL_CONTEXT` (tokens, default 8192) and `NAISEI_LOCAL_THREADS` (default: the free
    cores) configure it. Blocks while loading. Stopped at exit.

    Raises:
        InputError: a setting is not a positive number.
        InstrumentFailure: llama.cpp cannot load the file.
    """
    context, threads = _setting("NAISEI_LOCAL_CONTEXT", _CONTEXT), _setting("NAISEI_LOCAL_THREADS")
    with _lock:
        if path not in _running:
            key = secrets.token_urlsafe(24)
            params = _parameters(path, context, threads or _free_cores(), key)
            try:
                server = xllamacpp.Server(params)
            except Exception as error:
                raise InstrumentFailure(f"llama.cpp cannot load {path.name}: {error}") from error
            _running[path] = server, f"{server.listening_address}/v1", key
        return _running[path][1:]


def _parameters(path: Path, context: int, threads: int, key: str) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.warmup = False
    params.cache_prompt = True
    # By default 8 GB of old prompts are cached: too much for a laptop, and one slot
    # caches its own prefix anyway.
    params.cache_ram_mib = 512
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    params.verbosity = 0
    params.api_keys = [key]
    return params


def _setting(variable: str, default: int = 0) -> int:
    raw = os.environ.get(variable, "")
    if not raw:
        return default
    if not raw.isdecimal() or int(raw) < 1:
        raise InputError(
            say(f"{raw!r} は 1 以上の整数ではありません", f"{raw!r} is no positive whole number"),
            place=variable,
        )
    return int(raw)


@atexit.register
def _stop() -> None:
    """Stop the servers before the interpreter shuts down."""
    with _lock:
        _running.clear()


# JSON schemas as llama.cpp grammars that do not allow blank lines.
#
# For a schema in OpenAI's format, llama.cpp allows white space between any two tokens, and a
# small model can spend its whole limit on blank lines. An explicit llguidance grammar fixes
# this and also enforces integer bounds.

#: One space after `:` and `,` as in training data: without it the embedded model switched from
#: Japanese to English on every prompt tried. `coerce_one_of`: pydantic writes tagged unions as
#: `oneOf`. `lenient`: validation of the reply checks the keywords that the grammar cannot
#: express.
_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
    "lenient": True,
}


def json_grammar(schema: dict[str, Any] | None = None) -> str:
    """A grammar for one-line JSON that matches `schema`, or for any JSON object without one.

    Additional properties are forbidden by default; else models invent them up to the limit.
    """
    body = {**_closed(schema or {"type": "object"}), "x-guidance": _OPTIONS}
    return f"%llguidance {{}}\nstart: %json {json.dumps(body, ensure_ascii=False)}\n"


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    out = {key: _closed(value) for key, value in part.items()}
    if part.get("type") == "object" and isinstance(part.get("properties"), dict):
        out.setdefault("additionalProperties", False)
    return out


_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")
_HELD: tuple[Mode, ...] = ("json_schema", "json_object")
#: On two slow cores, a long prompt takes minutes to its first token.
_SECONDS = 600.0

_Loop = asyncio.AbstractEventLoop
#: The server runs one request at a time; the time-out must not include queueing.
_turns: WeakKeyDictionary[_Loop, asyncio.Lock] = WeakKeyDictionary()


class LocalModel:
    """A `ChatModel` on a llama.cpp server, which the first call starts.

    notice: printed next to this model's results, in Japanese and English. base_url: loopback,
    without the port, which differs between processes.
    """

    notice = (NOTICE_JA, NOTICE_EN)
    base_url = "http://127.0.0.1"
    free = True
    #: A small model may never stop.
    base_sampling = Sampling(max_tokens=512)
    ignores = ("reasoning_effort",)

    def __init__(self, name: str, path: Path, settings: ModelSettings) -> None:
        self.name, self.path, self.model_name = name, path, path.stem
        self.modes = _MODES[_MODES.index(settings.structured) :]
        self._timeout = max(settings.timeout, _SECONDS)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One reply; see `ChatModel.complete`.

        Raises:
            Unusable: also if llama.cpp cannot load the file, or the prompt exceeds the
                context.
        """
        check_allowed(self)
        bounded = replace(request, sampling=request.sampling.over(self.base_sampling))
        async with self._served() as model:
            reply = await model.complete(bounded)
        if request.mode in _HELD and _wants_object(request) and not reply.text.startswith("{"):
            # llama.cpp drops a grammar that it cannot compile and only logs to stderr.
            raise Unusable(f"{self.name}: the schema makes no grammar", of_form=True)
        return reply

    async def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The server's response at a path of its API; see `API.call`."""
        async with self._served() as model:
            return await model.call(path, body)

    @asynccontextmanager
    async def _served(self) -> AsyncIterator[_Served]:
        """The running server, for one request at a time."""
        async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            try:
                url, key = await asyncio.to_thread(serve, self.path)
            except InstrumentFailure as error:
                raise Unusable(str(error), hopeless=True) from error
            model = _Served(
                self.name,
                self.model_name,
                base_url=url,
                key=key,
                timeout=self._timeout,
                modes=_MODES,
            )
            try:
                yield model
            finally:
                await model.aclose()

    async def aclose(self) -> None:
        """Nothing to close: the server is shared and stops at exit."""


class _Served(CompletionsModel):
    """The llama.cpp server, which gets a grammar instead of a schema."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        body = super().body(replace(request, mode=None)) | {"cache_prompt": True}
        if request.mode in _HELD:
            # The schema is known even if only an object was requested.
            body["grammar"] = json_grammar(request.schema.json if request.schema else None)
        return body


def build(name: str, settings: ModelSettings | None = None) -> LocalModel:
    """The provider's factory. Uses only `structured` and a time-out over ten minutes from the
    settings.

    Raises:
        InputError: the weights are unknown or not pulled yet.
    """
    path = locate(name)
    spec = f"local:{name.removeprefix('local:') or DEFAULT}"
    return LocalModel(spec, path, settings or ModelSettings())


def _wants_object(request: ChatRequest) -> bool:
    return request.schema is None or "properties" in request.schema.json
