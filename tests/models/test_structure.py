"""Structured replies: what is read, what is resent, what is repaired, what is given up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.helpers import Choice, gateway, perform
from naisei.core import InstrumentFailure, Sampling, assistant, system, user
from naisei.models.replies import Garbage, Violation, read
from servers.openai_server import OpenAIServer

Start = Callable[..., OpenAIServer]
GOOD = '{"thought": "暑い", "action": 3}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"はい、こちらです。\n{GOOD}\nいかがでしょうか。",
        f"{GOOD} 以上です",
        f"形は {{x}} です。{GOOD}",
        f'<think>{{"thought": "迷う", "action": 9}}</think>{GOOD}',
        f'例：{{"name": 1}} 答え：{GOOD}',
        '{"thought": "改\n行", "action": 3}',
        '{"thought": "差は: +2", "action": +3}',
    ],
)
def test_json_is_found(text: str) -> None:
    value = read(text, Choice)
    assert isinstance(value, Choice) and value.action == 3


@pytest.mark.parametrize(
    "text", ["", "  ", "申し訳ありません", "null", "3", '"はい"', "{", "[1, 2"]
)
def test_no_json_is_garbage(text: str) -> None:
    with pytest.raises(Garbage):
        read(text, Choice)


@given(
    st.integers(min_value=1, max_value=len(GOOD) - 1), st.sampled_from(["", "答え：", "```json\n"])
)
def test_json_cut_off_is_garbage_wherever_it_is_cut(at: int, before: str) -> None:
    nested = '{"outer": ' + GOOD + ', "last": 1}'
    for text in (GOOD, nested):
        with pytest.raises(Garbage):
            read(before + text[: min(at, len(text) - 1)], Choice)


def test_a_plus_sign_within_a_text_is_left_alone() -> None:
    kept = read('{"thought": "差は: +2", "action": 3}', Choice)
    assert isinstance(kept, Choice) and kept.thought == "差は: +2"


def test_a_value_inside_a_value_is_no_answer() -> None:
    with pytest.raises(Violation):
        read(f'{{"inner": {GOOD}}}', Choice)


def test_a_violation_names_the_fields() -> None:
    with pytest.raises(Violation) as failed:
        read('{"action": "七"}', Choice)
    assert [e.partition(":")[0] for e in failed.value.errors] == ["thought", "action"]


def repairing(replies: list[str]) -> Callable[..., str]:
    """The n-th reply to a conversation with n assistant turns."""
    return lambda messages, schema: replies[sum(m["role"] == "assistant" for m in messages)]


def test_a_violation_is_repaired_once(openai_server: Start) -> None:
    server = openai_server(repairing(['{"thought": "暑い"}', GOOD]))
    done = perform(gateway(server), "窓を開ける？", Choice)
    assert done.value == Choice(thought="暑い", action=3)
    assert done.usage is not None
    assert done.usage.repaired and done.usage.calls == done.usage.attempts == 2
    first, second = server.requests
    assert second["messages"][:1] == first["messages"]
    assert second["messages"][1] == {"role": "assistant", "content": '{"thought": "暑い"}'}
    told = second["messages"][2]["content"]
    assert "action" in told and "使えませんでした" in told and '"properties"' in told


def test_the_repair_speaks_the_language_of_the_conversation(openai_server: Start) -> None:
    server = openai_server(repairing(["{}", GOOD]))
    perform(gateway(server), "Open the window?", Choice)
    assert "could not be used" in server.requests[1]["messages"][2]["content"]


def test_a_repair_that_fails_is_an_instrument_failure(openai_server: Start) -> None:
    server = openai_server(repairing(["{}", '{"action": 1}']))
    with pytest.raises(InstrumentFailure, match="thought: Field required") as failed:
        perform(gateway(server), "a", Choice)
    usage = failed.value.usage
    assert usage is not None and usage.repaired
    assert usage.calls == usage.attempts == server.calls == 2
    assert usage.output_tokens == len("{}") + len('{"action": 1}')


def test_garbage_is_resent_unchanged_then_repaired(openai_server: Start) -> None:
    server = openai_server(repairing(["わかりません", GOOD]))
    done = perform(gateway(server), "a", Choice)
    assert done.value.action == 3
    *same, last = server.requests
    assert len(same) == 6 and all(r == same[0] for r in same)
    assert len(last["messages"]) == 3
    assert done.usage is not None and done.usage.repaired and done.usage.attempts == 7


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ((), ["json_schema"]),
        (("json_schema",), ["json_schema", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None]),
    ],
)
def test_structure_is_asked_for_as_the_endpoint_accepts(
    openai_server: Start, refused: tuple[str, ...], sent: list[str | None]
) -> None:
    server = openai_server(lambda messages, schema: GOOD, refuse_modes=refused)
    done = perform(gateway(server), [system("助手です"), user("何をする？")], Choice)
    assert done.value.action == 3
    assert [(r.get("response_format") or {}).get("type") for r in server.requests] == sent
    shown = '"properties"' in server.requests[-1]["messages"][0]["content"]
    assert shown == (len(sent) > 1), "the schema is in the prompt where nobody enforces it"
    assert server.requests[-1]["messages"][1] == {"role": "user", "content": "何をする？"}


def test_the_strict_schema_goes_out(openai_server: Start) -> None:
    server = openai_server(lambda messages, schema: GOOD)
    perform(gateway(server), "a", Choice)
    wanted = server.requests[0]["response_format"]["json_schema"]
    assert wanted["name"] == "Choice" and wanted["strict"] is True
    assert wanted["schema"] == {
        "type": "object",
        "properties": {"thought": {"type": "string"}, "action": {"type": "integer"}},
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def limited(text: str) -> Callable[[dict[str, Any]], tuple[int, dict[str, str], Any]]:
    """An endpoint that obeys `max_tokens` (in characters)."""

    def respond(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        limit = body.get("max_tokens", 10**6)
        cut = text[:limit]
        choice = {
            "index": 0,
            "finish_reason": "stop" if cut == text else "length",
            "message": {"role": "assistant", "content": cut},
        }
        used = {"prompt_tokens": 1, "completion_tokens": len(cut), "total_tokens": 1 + len(cut)}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": "test"}
        return 200, {}, {**head, "choices": [choice], "usage": used}

    return respond


def test_a_token_limit_of_ours_is_doubled_once(openai_server: Start) -> None:
    server = openai_server(respond=limited(GOOD))
    done = perform(gateway(server), "a", Choice, sampling=Sampling(max_tokens=20))
    assert done.value.action == 3
    assert [r["max_tokens"] for r in server.requests] == [20, 40]


def test_a_text_cut_by_a_limit_of_ours_is_taken(openai_server: Start) -> None:
    server = openai_server(respond=limited("あいうえお"))
    assert perform(gateway(server), sampling=Sampling(max_tokens=3)).value == "あいう"
    assert server.calls == 1


def test_a_conversation_goes_out_as_it_is(openai_server: Start) -> None:
    server = openai_server()
    talk = [system("規則"), user("一"), assistant("二"), user("三")]
    perform(gateway(server, sampling=Sampling(temperature=0.5, seed=7)), talk)
    (sent,) = server.requests
    assert [(m["role"], m["content"]) for m in sent["messages"]] == [
        (m.role, m.content) for m in talk
    ]
    assert sent["temperature"] == 0.5 and 0 <= sent["seed"] < 2**31
    assert json.dumps(sent).count("top_p") == 0
