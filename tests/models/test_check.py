"""`models check`: what works, in plain words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naisei.models.check import CheckReport, check
from naisei.models.registry import open_model
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]


def checked(spec: str, **options: Any) -> CheckReport:
    async def go() -> CheckReport:
        model = open_model(spec)
        try:
            return await check(model, **options)
        finally:
            await model.aclose()

    return asyncio.run(go())


def able(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    if schema is not None:
        return json.dumps({"colour": "moegi"})
    return '{"color": "赤"}' if "JSON" in messages[-1]["content"] else "はい"


def test_an_able_endpoint(openai_server: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_LANG", "en")
    server = openai_server(able, tools=True, logprobs=True, context=8192, latency=0.01)
    report = checked(f"openai-compatible:test@{server.url}")
    told = report.to_json()
    assert report.usable
    for name in ("chat", "json_schema", "json_object", "tools", "logprobs"):
        assert told[name] is True, name
    assert told["context"] == 8192
    assert isinstance(told["latency_s"], float) and told["latency_s"] >= 0.01
    text = "\n".join(report.lines())
    assert "○ JSON schema" in text and "8192 tokens" in text
    monkeypatch.setenv("NAISEI_LANG", "ja")
    assert "○ JSON Schema: 使えます" in "\n".join(report.lines())


def test_a_plain_endpoint(openai_server: Start) -> None:
    server = openai_server(lambda m, s: "はい", refuse_modes=("json_object",))
    report = checked(f"openai-compatible:test@{server.url}", speed=False)
    told = report.to_json()
    assert told["chat"] is True
    assert told["json_schema"] is False, "accepted, but the reply was prose"
    assert told["json_object"] is False
    assert told["tools"] is False and told["logprobs"] is False
    assert told["context"] is None and told["latency_s"] is None


def test_a_scripted_model(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"schema": "colour", "fill": {}}\n{"reply": "はい"}', "utf-8")
    told = checked(f"scripted:{script}").to_json()
    assert told["chat"] is True and told["json_schema"] is True
    assert told["json_object"] is False
    assert told["tools"] is None, "unknown, not absent"


def test_an_endpoint_that_only_fails(openai_server: Start) -> None:
    server = openai_server(respond=lambda body: (500, {}, {"error": {"message": "ill"}}))
    report = checked(f"openai-compatible:test@{server.url}")
    assert not report.usable
    assert "ill" in report.lines()[1]
