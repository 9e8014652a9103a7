"""Anthropic and Google on a loopback endpoint that speaks their language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from models.helpers import QUICK, Choice, perform
from naisei.core import InputError, Sampling, assistant, system, user
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.registry import Roles, open_model
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
Answer = tuple[int, dict[str, str], Any]
GOOD = '{"thought": "暑い", "action": 3}'


def claude(text: str) -> Answer:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 5},
    }
    return 200, {}, body


def gemini(text: str) -> Answer:
    body = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16},
        "modelVersion": "gemini-2.5-flash",
    }
    return 200, {}, body


BOTH = pytest.mark.parametrize(
    ("spec", "answer"),
    [("anthropic:claude-haiku-4-5", claude), ("google:gemini-2.5-flash", gemini)],
)


def gateway(spec: str, server: OpenAIServer) -> Gateway:
    url = server.url.removesuffix("/v1")
    pytest.importorskip("anthropic" if spec.startswith("anthropic") else "google.genai")
    settings = ModelSettings(api_key="k", options={"base_url": url})
    return Gateway(Roles(open_model(spec, settings)), patience=QUICK)


@BOTH
def test_a_conversation(openai_server: Start, spec: str, answer: Callable[[str], Answer]) -> None:
    server = openai_server(respond=lambda body: answer("はい"))
    talk = [system("規則"), user("一"), assistant("二"), user("三")]
    done = perform(gateway(spec, server), talk, sampling=Sampling(max_tokens=50))
    assert done.value == "はい"
    assert done.usage is not None
    assert (done.usage.input_tokens, done.usage.output_tokens) == (11, 5)
    assert done.usage.usd is None, "another endpoint than the provider's own"
    assert all(word in str(server.requests) for word in ("規則", "一", "二", "三"))


@BOTH
def test_structure(openai_server: Start, spec: str, answer: Callable[[str], Answer]) -> None:
    server = openai_server(respond=lambda body: answer(GOOD))
    done = perform(gateway(spec, server), "何を？", Choice)
    assert done.value == Choice(thought="暑い", action=3)
    assert "schema" in str(server.requests[0]).lower()
    assert server.calls == 1


@BOTH
def test_failures_that_pass(
    openai_server: Start, spec: str, answer: Callable[[str], Answer]
) -> None:
    answers: list[Answer] = [
        (429, {"retry-after": "0.01"}, {"error": {"message": "slow down"}}),
        (503, {}, {"error": {"message": "busy"}}),
        (200, {}, b"<html>"),
        answer("はい"),
    ]
    server = openai_server(respond=lambda body: answers.pop(0))
    done = perform(gateway(spec, server), sampling=Sampling(max_tokens=50))
    assert done.value == "はい"
    assert done.usage is not None and done.usage.attempts == server.calls == 4


@BOTH
def test_a_wrong_key(openai_server: Start, spec: str, answer: Callable[[str], Answer]) -> None:
    refusal: Answer = (401, {}, {"error": {"message": "bad key"}})
    server = openai_server(respond=lambda body: refusal)
    with pytest.raises(InputError, match="bad key"):
        perform(gateway(spec, server))
    assert server.calls == 1
