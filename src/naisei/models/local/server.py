"""llama.cpp inside the process: an OpenAI-compatible server on a loopback port."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naisei.core import InputError, InstrumentFailure
from naisei.lang import say

__all__ = ["LocalServer", "free_cores", "json_grammar", "require", "serve"]


_STAT = Path("/proc/stat")
_SECONDS = 0.3


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
        time.sleep(_SECONDS)
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
