"""The switch that forbids model calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from models.helpers import gateway, perform
from naisei.addresses import is_loopback
from naisei.core import InputError, ModelCallForbidden
from naisei.models.base import ModelSettings
from naisei.models.check import check
from naisei.models.gateway import Gateway
from naisei.models.registry import Roles, open_model, open_roles
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
FAR = "openai-compatible:m@https://models.example/v1"


def test_switched_off_nothing_is_called(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = openai_server()
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "1")
    with pytest.raises(ModelCallForbidden, match="openai-compatible:test"):
        perform(gateway(server))
    model = open_model(f"openai-compatible:test@{server.url}")
    with pytest.raises(ModelCallForbidden):
        asyncio.run(check(model))
    assert server.calls == 0


def test_a_scripted_model_is_always_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "1")
    script = tmp_path / "s.jsonl"
    script.write_text('{"reply": "はい"}', "utf-8")
    assert perform(Gateway(open_roles(f"scripted:{script}"))).value == "はい"


@pytest.mark.parametrize(
    ("spec", "module"),
    [
        (FAR, "openai"),
        ("openai:gpt-4.1", "openai"),
        ("anthropic:claude-haiku-4-5", "anthropic"),
        ("google:gemini-2.5-flash", "google.genai"),
    ],
)
def test_remote_models_are_forbidden_in_tests(spec: str, module: str) -> None:
    pytest.importorskip(module)
    with pytest.raises(ModelCallForbidden, match="remote"):
        perform(Gateway(Roles(open_model(spec, ModelSettings(api_key="k")))))


def test_an_unknown_value_is_a_mistake(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_FORBID_MODELS", "yes")
    with pytest.raises(InputError, match="remote"):
        perform(gateway(openai_server()))


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:80/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example/v1", False),
        ("http://127.0.0.1.example/v1", False),
        (None, False),
    ],
)
def test_loopback(url: str | None, loopback: bool) -> None:
    assert is_loopback(url) == loopback
