"""llama.cpp inside the process: an OpenAI-compatible server on a loopback port."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.models.local.cores import free_cores

__all__ = ["LocalServer", "require", "serve"]

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
