"""Whatever an endpoint does wrong, the values are those of the clean run, and it is billed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from benchmarks.attack.bodies import BODIES
from benchmarks.attack.endpoints import serving

from models.helpers import QUICK, Choice, gateway, perform
from naisei.core import Chat, InputError, InstrumentFailure, Usage, Where, user
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.registry import open_roles
from servers.faults import KINDS, Faults
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]

#: Faults whose reply was a chat completion, and so was counted (and paid for).
ANSWERED = {"slow", "length", "prose", "empty"}


def by_content(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """A reply that depends on the whole conversation: a repair would change it."""
    n = sum(map(ord, json.dumps(messages))) % 40
    if schema is None:
        return f"答えは{n}です。"
    return json.dumps({"thought": f"{n}番", "action": n}, ensure_ascii=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schema", [Choice, None])
def test_a_fault_changes_nothing_but_the_attempts(
    openai_server: Start, kind: str, schema: type[Choice] | None
) -> None:
    clean = perform(gateway(openai_server(by_content)), schema=schema)
    faults = Faults(rate=1.0, kinds=(kind,), most=1)
    server = openai_server(by_content, faults=faults)
    faulty = perform(gateway(server), schema=schema)

    assert faulty.value == clean.value
    assert server.met[kind] == 1
    quiet = kind == "slow" or (kind == "prose" and schema is None)
    assert faulty.usage is not None and clean.usage is not None
    assert faulty.usage.attempts == server.calls == (1 if quiet else 2)
    assert faulty.usage.calls == (2 if kind in ANSWERED and not quiet else 1)
    assert not faulty.usage.repaired


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"7",
        b"\xff\xfe\x00",
        b"{",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": null}}]}',
        b'{"error": {"message": "overloaded", "code": 503}}',
    ],
)
def test_a_body_that_is_no_reply_is_asked_for_again(openai_server: Start, body: bytes) -> None:
    bodies = [body]
    server = openai_server(respond=lambda asked: (200, {}, bodies.pop()) if bodies else None)
    done = perform(gateway(server))
    assert done.value == "了解です"
    assert done.usage is not None and done.usage.attempts == server.calls == 2


def test_a_message_that_is_no_text_ends_the_call(openai_server: Start) -> None:
    with pytest.raises(InstrumentFailure, match="UTF-8"):
        perform(gateway(openai_server()), "半分の文字\ud83d")


def test_tokens_of_unusable_replies_are_counted(openai_server: Start) -> None:
    faults = Faults(rate=1.0, kinds=("length",), most=2)
    server = openai_server(lambda m, s: '{"thought": "あい", "action": 7}', faults=faults)
    usage = perform(gateway(server), "abc", Choice).usage
    reply = len('{"thought": "あい", "action": 7}')
    assert usage == Usage(
        role="agent",
        model=f"openai-compatible:test@{server.url}",
        calls=3,
        attempts=3,
        input_tokens=9,
        output_tokens=reply + 2 * (reply // 2),
        lost_input=6,
        lost_output=2 * (reply // 2),
        usd=None,
    )


def test_attempts_end(openai_server: Start) -> None:
    server = openai_server(faults=Faults(rate=1.0, kinds=("500",)))
    with pytest.raises(InstrumentFailure, match="HTTP 500") as failed:
        perform(gateway(server))
    assert failed.value.usage is not None
    assert failed.value.usage.attempts == server.calls == 10
    assert failed.value.usage.calls == 0
    assert failed.value.usage.usd is None


@pytest.mark.parametrize(
    ("kind", "schema", "cause"),
    [
        ("prose", Choice, "no JSON in "),
        ("empty", None, "an empty text"),
        ("length", None, "a text cut off"),
        ("length", Choice, "cut off at the token limit"),
    ],
)
def test_the_last_cause_is_named_when_attempts_end(
    openai_server: Start, kind: str, schema: type[Choice] | None, cause: str
) -> None:
    server = openai_server(faults=Faults(rate=1.0, kinds=(kind,)))
    patience = replace(QUICK, attempts=2)
    with pytest.raises(InstrumentFailure, match=rf"in 2 attempts; last: .*{cause}"):
        perform(gateway(server, patience=patience), "abc", schema)


def test_a_request_refused_for_itself_is_not_repeated(openai_server: Start) -> None:
    said = {"error": {"message": "maximum context length is 8 tokens"}}
    server = openai_server(respond=lambda body: (400, {}, said))
    with pytest.raises(InstrumentFailure, match="maximum context length"):
        perform(gateway(server))
    assert server.calls == 1


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_refusal_for_good_is_a_message_to_the_user(openai_server: Start, status: int) -> None:
    said = {"error": {"message": "no, never"}}
    server = openai_server(respond=lambda body: (status, {}, said))
    with pytest.raises(InputError, match=r"no, never.*API key") as failed:
        perform(gateway(server))
    assert failed.value.place == server.url
    assert server.calls == 1


def test_a_key_that_is_sent_back_is_not_shown(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    said = {"error": {"message": "bad key sk-0123456789 (Bearer abcdefghijk) http://u:pw@h/"}}
    server = openai_server(respond=lambda body: (401, {}, said))
    with pytest.raises(InputError, match="bad key …") as failed:
        perform(gateway(server))
    shown = f"{failed.value}"
    assert "0123456789" not in shown and "abcdefghijk" not in shown and "pw" not in shown


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "endless text",
        pytest.param("endless small events", marks=pytest.mark.slow),
        "gzip bomb",
        "gzip thrice",
        "deep list",
        "long number",
        "large exponent",
        "half a character",
        "braces",
        "unclosed thought",
        "too long",
        "odd pieces",
    ],
)
def test_an_evil_endpoint_is_one_message_in_bounded_time(name: str, streamed: bool) -> None:
    body, began = BODIES[name], time.process_time()
    with serving(lambda: body) as url:
        roles = open_roles(f"openai-compatible:test@{url}/v1", settings=ModelSettings(timeout=20))
        patience = replace(QUICK, attempts=1, resends=0)
        told = (lambda text: None) if streamed else None
        chat: Chat[Choice] = Chat("agent", [user("？")], Choice, on_text=told)

        async def asked() -> None:
            gateway = Gateway(roles, patience=patience)
            try:
                await gateway.perform(chat, Where("1"))
            finally:
                await gateway.aclose()

        with pytest.raises(InstrumentFailure):
            asyncio.run(asked())
    assert time.process_time() - began < 20, "seconds of the processor, with what sends it"
