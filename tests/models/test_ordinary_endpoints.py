"""Ordinary endpoints: what they refuse, and what they answer in place of a reply."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from models.helpers import QUICK, Choice, gateway, perform
from models.test_check import checked
from naisei.core import (
    Chat,
    InputError,
    InstrumentFailure,
    Performed,
    Sampling,
    Where,
    assistant,
    system,
    user,
)
from naisei.models.embedders.endpoint import EndpointEmbedder
from naisei.models.gateway import Gateway
from naisei.models.registry import open_model, open_roles
from naisei.models.replies import folded
from servers.closed_port import closed_port
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
Given = tuple[int, dict[str, str], Any]
GOOD = '{"thought": "暑い", "action": 3}'
TALK = [system("規則です"), user("何をする？")]


def form(body: dict[str, Any]) -> tuple[str | None, bool]:
    """How structure was asked for, and whether a system message was sent."""
    kind = (body.get("response_format") or {}).get("type")
    return kind, any(m["role"] == "system" for m in body["messages"])


def answered(message: dict[str, Any] | str = GOOD, finish: str = "stop", **more: Any) -> Given:
    said = {"content": message} if isinstance(message, str) else message
    choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish}
    used = {"prompt_tokens": 5, "completion_tokens": 5}
    return 200, {}, {"choices": [choice], "usage": used, "model": "m", **more}


def refusing(
    which: Callable[[str | None, bool], bool], status: int, said: object
) -> Callable[[dict[str, Any]], Given]:
    return lambda body: (status, {}, said) if which(*form(body)) else answered()


def twice(through: Gateway, schema: type[Choice] | None) -> list[Performed[Any]]:
    """The same asked at two places of one run."""

    async def both() -> list[Performed[Any]]:
        effect: Chat[Any] = Chat("agent", TALK, schema)  # type: ignore[arg-type]
        done = [await through.perform(effect, Where(str(n))) for n in range(2)]
        await through.aclose()
        return done

    return asyncio.run(both())


#: Servers' own words.
STRUCTURE = [
    (400, {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed"}}),
    (400, [{"error": {"message": "Unknown name \"additionalProperties\" at 'response_schema'"}}]),
    (400, {"message": "Structured output is not supported for this model"}),
    (400, {"error": {"message": "Bad request"}}),
    (404, {"error": {"message": "No endpoints found that can handle the requested parameters."}}),
    (422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs"}]}),
    (500, {"error": {"code": 500, "message": "JSON schema conversion failed:\nUnrecognized"}}),
    (501, {"error": "not implemented"}),
    (500, b"Internal Server Error"),
    (400, {"error": "'response_format.type' must be 'text'"}),
    (400, {"error": {"message": "Invalid schema for response_format 'Choice': …"}}),
    (500, {"error": {"message": 'response_format type must be one of "text" or "json"'}}),
    (200, {"error": {"message": "Provider returned error", "code": 400}}),
    (424, {"error": "Request failed during generation", "error_type": "generation"}),
]
ROLES = [
    (400, {"object": "error", "message": "System role not supported", "code": 400}),
    (500, {"error": {"message": "Jinja Exception: System role not supported"}}),
    (400, {"error": {"message": "Developer instruction is not enabled for models/gemma-3-1b-it"}}),
    (422, {"detail": "Input should be 'user' or 'assistant'"}),
    (500, b""),
    (424, {"error": "Server error: Conversation roles must alternate user/assistant/user/…"}),
    (200, {"error": "Only user and assistant roles are supported!"}),
    (500, {"error": {"message": "Only user, assistant and tool roles are supported, got system."}}),
]


@pytest.mark.parametrize(("status", "said"), STRUCTURE)
def test_structure_that_is_refused_steps_down_for_the_run(
    openai_server: Start, status: int, said: object
) -> None:
    server = openai_server(respond=refusing(lambda kind, _: kind is not None, status, said))
    first, second = twice(gateway(server), Choice)
    assert first.value == second.value == Choice(thought="暑い", action=3)
    assert form(server.requests[-1]) == (None, True), "remembered"
    (sent,) = second.usage.sent
    assert sent["left_out"] == ["json_schema"]


@pytest.mark.parametrize("schema", [Choice, None])
@pytest.mark.parametrize(("status", "said"), ROLES)
def test_without_a_system_role_instructions_are_the_users_first_words(
    openai_server: Start,
    caplog: pytest.LogCaptureFixture,
    status: int,
    said: object,
    schema: type[Choice] | None,
) -> None:
    server = openai_server(respond=refusing(lambda _, has_system: has_system, status, said))
    with caplog.at_level(logging.WARNING, "naisei.models"):
        first, second = twice(gateway(server), schema)
    assert server.url in caplog.text and first.value == second.value
    (sent,) = second.usage.sent
    assert sent["left_out"] == ["system messages"]
    assert sent["request"]["messages"] == [{"role": "user", "content": "規則です\n\n何をする？"}]
    assert form(server.requests[-1])[0] == (None if schema is None else "json_schema")


def test_folded_instructions_keep_the_turns() -> None:
    talk = (system("規則"), assistant("はい"), system("注意"), user("何？"), user("ねえ"))
    told = [(m.role, m.content) for m in folded(talk)]
    assert told == [("user", "規則"), ("assistant", "はい"), ("user", "注意\n\n何？\n\nねえ")]


def test_both_may_be_refused(openai_server: Start) -> None:
    server = openai_server(respond=refusing(lambda kind, told: told or kind is not None, 400, "no"))
    assert perform(gateway(server), TALK, Choice).value.action == 3
    assert form(server.requests[-1]) == (None, False)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (400, "maximum context length is 8 tokens", InstrumentFailure),
        (404, "The model `x` does not exist", InputError),
        (400, "Invalid model name passed in model=x", InputError),
        (404, "Not Found", InputError),
        (401, "bad key", InputError),
        (429, "insufficient_quota", InputError),
    ],
)
def test_what_does_not_vanish_is_told_as_it_came(
    openai_server: Start, status: int, message: str, error: type[Exception]
) -> None:
    server = openai_server(respond=lambda body: (status, {}, {"error": {"message": message}}))
    with pytest.raises(error, match=message):
        perform(gateway(server), TALK, Choice)
    bound = 1 if "odel" in message or status in (401, 429) else 6
    assert server.calls == bound


def test_a_server_that_is_ill_for_a_moment_is_asked_in_the_same_form(openai_server: Start) -> None:
    ill = iter([500, 500])
    server = openai_server(respond=lambda b: (s, {}, "ill") if (s := next(ill, 0)) else answered())
    through = gateway(server)
    done = perform(through, TALK, Choice)
    assert done.value.action == 3 and "left_out" not in done.usage.sent[-1]  # type: ignore[union-attr]
    assert form(server.requests[-1]) == ("json_schema", True)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "refusal"])
@pytest.mark.parametrize("schema", [Choice, None])
def test_words_beside_an_empty_reply_are_one_message(
    openai_server: Start, name: str, schema: type[Choice] | None
) -> None:
    server = openai_server(respond=lambda body: answered({"content": None, name: GOOD}))
    with pytest.raises(InputError, match=name) as failed:
        perform(gateway(server), TALK, schema)
    assert failed.value.remedy and server.calls == 2


@pytest.mark.parametrize("arguments", [GOOD, json.loads(GOOD)])
def test_an_object_in_a_tool_call_is_taken(openai_server: Start, arguments: object) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "Choice", "arguments": arguments}}
    reply = answered({"content": None, "tool_calls": [call]}, "tool_calls")
    server = openai_server(respond=lambda body: reply)
    assert perform(gateway(server), schema=Choice).value.action == 3
    with pytest.raises(InputError, match="tool_calls"):
        perform(gateway(server), TALK)


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {"content-type": "text/html"}, b"<!doctype html><html><body>app</body></html>"),
        (405, {"content-type": "text/html"}, b"<html><h1>405 Not Allowed</h1></html>"),
        (404, {"content-type": "text/html"}, b"\n<!DOCTYPE html><title>404</title>"),
        (307, {"location": "/v1/chat/completions/"}, b""),
        (302, {"location": "https://example.invalid/login"}, b""),
    ],
)
@pytest.mark.parametrize("schema", [Choice, None])
def test_a_page_or_a_redirect_is_told_at_once(
    openai_server: Start,
    status: int,
    headers: dict[str, str],
    body: bytes,
    schema: type[Choice] | None,
) -> None:
    server = openai_server(respond=lambda asked: (status, headers, body))
    with pytest.raises(InputError) as failed:
        perform(gateway(server), TALK, schema)
    assert failed.value.place == server.url and "/v1" in str(failed.value.remedy)
    assert headers.get("location", str(status)) in str(failed.value)
    assert server.calls == 1


@pytest.mark.parametrize(
    "change",
    [
        (b'"model": "m"', b'"model": "m", "timings": {"x": Infinity, "y": NaN, "z": 1e999}'),
        (b'"model": "m"', b'"model": "m", "logprobs": -Infinity'),
        (b'"model": "m"', b'"model": "m", "note": "\\ud83d"'),
        (b'{"prompt_tokens": 5, "completion_tokens": 5}', b'[{"prompt_tokens": 5}]'),
        (b'"completion_tokens": 5', b'"completion_tokens": NaN, "prompt_tokens_details": 5'),
        (b'"prompt_tokens": 5', b'"prompt_tokens": 5.0, "completion_tokens_details": []'),
    ],
)
def test_what_is_not_read_does_not_spoil_a_reply(
    openai_server: Start, change: tuple[bytes, bytes]
) -> None:
    whole = json.dumps(answered()[2]).encode()
    assert change[0] in whole
    server = openai_server(respond=lambda body: (200, {}, whole.replace(*change)))
    done = perform(gateway(server), TALK, Choice)
    assert done.value.action == 3 and server.calls == 1
    assert done.usage is not None and done.usage.output_tokens > 0
    json.dumps(done.usage.sent, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    "spoiled",
    [
        json.dumps(answered("はい、そうですね")[2], ensure_ascii=False).encode("cp932"),
        json.dumps(answered("はい\ud83d")[2]).encode(),
    ],
)
def test_a_body_whose_words_cannot_be_read_is_asked_for_again(
    openai_server: Start, spoiled: bytes
) -> None:
    bodies = [spoiled]
    server = openai_server(
        respond=lambda b: (200, {}, bodies.pop()) if bodies else answered("はい")
    )
    assert perform(gateway(server), TALK).value == "はい"
    assert server.calls == 2


@pytest.mark.parametrize("said", ["stream is not supported", "Unrecognized argument: usage"])
def test_a_stream_that_is_refused_comes_as_a_whole(openai_server: Start, said: str) -> None:
    server = openai_server(respond=lambda b: (400, {}, said) if "stream" in b else answered("はい"))

    async def both() -> list[Any]:
        through = gateway(server)
        effect: Chat[str] = Chat("agent", TALK, on_text=list[str]().append)
        done = [await through.perform(effect, Where(str(n))) for n in range(2)]
        await through.aclose()
        return [one.value for one in done]

    assert asyncio.run(both()) == ["はい", "はい"]
    assert [("stream" in r) for r in server.requests] == [True, False, False]


@pytest.mark.parametrize("provider", ["openai", "openai-compatible"])
@pytest.mark.parametrize("taken", ["max_tokens", "max_completion_tokens", ""])
def test_a_limit_is_called_what_the_endpoint_calls_it(
    openai_server: Start, monkeypatch: pytest.MonkeyPatch, provider: str, taken: str
) -> None:
    def respond(body: dict[str, Any]) -> Given:
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body and name != taken:
                return 400, {}, {"error": {"message": f"Unsupported parameter: '{name}'."}}
        return answered("はい")

    server = openai_server(respond=respond)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    through = Gateway(open_roles(f"{provider}:m", sampling=Sampling(max_tokens=9)), patience=QUICK)
    assert perform(through).value == "はい"
    last = server.requests[-1]
    assert {k: v for k, v in last.items() if k.startswith("max_")} == ({taken: 9} if taken else {})


def test_check_says_whether_a_system_message_is_taken(openai_server: Start) -> None:
    server = openai_server(respond=refusing(lambda _, told: told, 400, "System role not supported"))
    report = checked(f"openai-compatible:m@{server.url}", speed=False)
    assert report.usable and report.to_json()["system"] is False
    server = openai_server(lambda messages, schema: "るり")
    assert checked(f"openai-compatible:m@{server.url}", speed=False).to_json()["system"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:7891"),
        ("all_proxy", "socks://127.0.0.1:7891"),
        ("HTTP_PROXY", "http://host:port"),
        ("HTTPS_PROXY", "ftp://u:geheim@x"),
        ("SSL_CERT_FILE", "/nonexistent.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
@pytest.mark.parametrize("embeds", [False, True])
def test_what_is_wrong_in_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, embeds: bool
) -> None:
    monkeypatch.setenv(name, value)
    url = "https://models.invalid/v1"
    with pytest.raises(InputError) as failed:
        EndpointEmbedder("m", url) if embeds else open_model(f"openai-compatible:m@{url}")
    assert name in str(failed.value.place) and "geheim" not in str(failed.value)


def test_a_proxy_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NAISEI_FORBID_MODELS", raising=False)
    with closed_port() as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        roles = open_roles("openai-compatible:m@http://models.invalid/v1")
        with pytest.raises(InputError, match=f"HTTP_PROXY=http://127.0.0.1:{port}"):
            perform(Gateway(roles, patience=QUICK))
