"""`local:`: the embedded model. `local:NAME` for known weights, `local:/path/any.gguf`.

llama.cpp serves the OpenAI API on loopback, so the adapter is that of every other endpoint.
What differs: structure is held by a grammar of ours, one request runs at a time, the
time-out is long, and the reply has a bound even if the caller sets none.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import secrets
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import InputError, InstrumentFailure, Sampling
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest, Mode, ModelSettings, Unusable, check_allowed
from naisei.models.providers._adapter import DirectModel
from naisei.models.weights import DEFAULT, NOTICE_EN, NOTICE_JA, locate

_STAT = Path("/proc/stat")
_SAMPLED_SECONDS = 0.3


def free_cores() -> int:
    """Cores that this process may use and that nobody is using now; at least 1.

    llama.cpp's threads wait for each other in a spin after every layer: one thread on a
    core that another program is using slows all of them (seen on two cores, one busy: 7
    tokens a second with two threads, 41 with one). Where the kernel does not tell (not
    Linux), all cores.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        before = _ticks()
        time.sleep(_SAMPLED_SECONDS)
        after = _ticks()
    except (OSError, ValueError, IndexError):
        return cores
    passed = sum(after) - sum(before)
    if passed <= 0:
        return cores
    idle = (after[3] + after[4]) - (before[3] + before[4])
    total = os.cpu_count() or cores
    busy = total * (1 - idle / passed)
    return max(1, min(cores, round(total - busy)))


def _ticks() -> list[int]:
    """user, nice, system, idle, iowait, irq, softirq, steal of all cores together."""
    return [int(field) for field in _STAT.read_text("ascii").splitlines()[0].split()[1:9]]


#: Tokens of prompt and reply together.
_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server. base_url ends in `/v1`; api_key is needed, so that no page in a
    browser on this machine can use the model."""

    base_url: str
    api_key: str
    path: Path
    context: int


_running: dict[Path, tuple[LocalServer, Any]] = {}
_lock = threading.Lock()


def require() -> Any:
    """The module `xllamacpp`.

    Raises:
        InputError: it is not installed.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise InputError(
            say(
                "組み込みモデルには xllamacpp が要りますが、インストールされていません",
                "the embedded model needs xllamacpp, which is not installed",
            ),
            place="local:",
            remedy="pip install 'naisei[local]'",
        ) from error
    return xllamacpp


def serve(path: Path) -> LocalServer:
    """The server of these weights, started on first use; one per file and process.

    `NAISEI_LOCAL_CONTEXT` (tokens, 8192 by default) and `NAISEI_LOCAL_THREADS` (the cores
    that are free by default) override. Blocks while it loads. Stopped at exit.

    Raises:
        InputError: xllamacpp is missing, or a setting is no positive number.
        InstrumentFailure: llama.cpp cannot load the file.
    """
    llama = require()
    context, threads = _setting("NAISEI_LOCAL_CONTEXT", _CONTEXT), _setting("NAISEI_LOCAL_THREADS")
    with _lock:
        if path not in _running:
            _running[path] = _start(llama, path, context, threads)
        return _running[path][0]


def _start(llama: Any, path: Path, context: int, threads: int) -> tuple[LocalServer, Any]:
    params = llama.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads or free_cores()
    params.warmup = False
    params.cache_prompt = True
    # An 8 GB store of old prompts is the default: too much for a laptop, and one slot
    # keeps its own prefix anyway.
    params.cache_ram_mib = 512
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    params.verbosity = 0
    key = secrets.token_urlsafe(24)
    params.api_keys = [key]
    try:
        server = llama.Server(params)
    except Exception as error:
        raise InstrumentFailure(f"llama.cpp cannot load {path.name}: {error}") from error
    address = f"{server.listening_address}/v1"
    return LocalServer(address, key, path, context), server


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
    """Let go of the servers while the interpreter is still whole."""
    with _lock:
        _running.clear()


# JSON schemas as llama.cpp grammars that leave no room for blank lines.
#
# Given a schema the OpenAI way, llama.cpp allows white space between any two tokens, and a
# small model can spend its whole limit on blank lines. The same schema as an explicit
# llguidance grammar fixes it; integer bounds hold there, too.

#: One space after `:` and `,` as in the JSON that models learnt from: without it the embedded
#: model slipped from Japanese into English on every prompt tried. `coerce_one_of`: pydantic
#: writes tagged unions as `oneOf`. `lenient`: keywords that the grammar cannot express are
#: left to the validation that every reply gets anyway.
_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
    "lenient": True,
}


def json_grammar(schema: dict[str, Any] | None = None) -> str:
    """A grammar for JSON on one line that fits `schema`; for any JSON object without one.

    Objects that do not say whether they take further properties take none: else a model
    invents them until its limit.
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
#: A long prompt on two slow cores takes minutes before its first token.
_SECONDS = 600.0

_Loop = asyncio.AbstractEventLoop
#: The server works on one request at a time; waiting here keeps the time-out honest.
_turns: WeakKeyDictionary[_Loop, asyncio.Lock] = WeakKeyDictionary()


class LocalModel:
    """A `ChatModel` on llama.cpp inside this process. The server starts with the first call.

    notice: what has to be printed next to figures of this model, in Japanese and English.
    base_url: loopback, without the port, which differs from process to process.
    """

    notice = (NOTICE_JA, NOTICE_EN)
    base_url = "http://127.0.0.1"
    free = True
    #: A small model may not know when to stop.
    base_sampling = Sampling(max_tokens=512)

    def __init__(self, name: str, path: Path, *, timeout: float = _SECONDS) -> None:
        """timeout: seconds for one reply."""
        self.name, self.path, self.modes = name, path, _MODES
        self.model_name = path.stem
        self._timeout = timeout
        self._adapters: WeakKeyDictionary[_Loop, DirectModel] = WeakKeyDictionary()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One reply; see `ChatModel.complete`.

        Raises:
            Unusable: also where llama.cpp cannot load the file, or the prompt is longer than
                the context.
        """
        check_allowed(self)
        bounded = replace(request, sampling=request.sampling.over(self.base_sampling))
        async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            try:
                await asyncio.to_thread(serve, self.path)
            except InstrumentFailure as error:
                raise Unusable(str(error), hopeless=True) from error
            reply = await self._adapter().complete(bounded)
        if request.mode in _HELD and _wants_object(request) and not reply.text.startswith("{"):
            # llama.cpp drops a grammar that it cannot compile, and says so on stderr only.
            raise Unusable(f"{self.name}: the schema makes no grammar", of_form=True)
        return reply

    @property
    def client(self) -> AsyncOpenAI:
        """The SDK's client for the running loop. Starts the server if need be."""
        client: AsyncOpenAI = self._adapter().client
        return client

    async def aclose(self) -> None:
        """Close this loop's connections. The server is shared, and stops with the process."""
        if (adapter := self._adapters.pop(asyncio.get_running_loop(), None)) is not None:
            await adapter.aclose()

    def _adapter(self) -> DirectModel:
        loop = asyncio.get_running_loop()
        if loop not in self._adapters:
            self._adapters[loop] = self._connect()
        return self._adapters[loop]

    def _connect(self) -> DirectModel:
        server = serve(self.path)
        client = AsyncOpenAI(
            base_url=server.base_url,
            api_key=server.api_key,
            max_retries=0,
            timeout=self._timeout,
            # No proxy: the server is on loopback, whatever the environment says.
            http_client=DefaultAsyncHttpxClient(trust_env=False),
        )
        profile = OpenAIModelProfile(
            json_schema_transformer=None, openai_chat_supports_max_completion_tokens=False
        )
        provider = OpenAIProvider(openai_client=client)
        return DirectModel(
            self.name,
            OpenAIChatModel(self.model_name, provider=provider, profile=profile),
            base_url=server.base_url,
            modes=_MODES,
            structure=_structure,
            close=client.close,
            client=client,
            ignores=("reasoning_effort",),
        )


def build(name: str, settings: ModelSettings | None = None) -> LocalModel:
    """The provider's factory. Of the settings, a time-out beyond ten minutes applies, and
    `structured`.

    Raises:
        InputError: xllamacpp is missing, or the weights are unknown or not pulled yet.
    """
    require()
    settings = settings or ModelSettings()
    path = locate(name)
    model = LocalModel(
        f"local:{name.removeprefix('local:') or DEFAULT}",
        path,
        timeout=max(settings.timeout, _SECONDS),
    )
    model.modes = _MODES[_MODES.index(settings.structured) :]
    return model


def _structure(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
    body: dict[str, object] = {"cache_prompt": True}
    if request.mode in _HELD:
        # Where only an object was asked for, its schema is known all the same.
        body["grammar"] = json_grammar(request.schema.json if request.schema else None)
    return ModelRequestParameters(), RequestSettings(extra_body=body)


def _wants_object(request: ChatRequest) -> bool:
    return request.schema is None or "properties" in request.schema.json
