"""Sampling parameters: a seed for each call, what an endpoint does not take, what the log holds."""

from __future__ import annotations

from typing import Any

from models.helpers import Choice, gateway, perform
from naisei.core import Sampling, Where, system, user
from naisei.runs.log import RunLog
from naisei.schema import json_schema, model_field


def test_a_call_has_a_seed_of_its_own_and_the_same_one_again(openai_server: Any) -> None:
    server = openai_server()
    asked = [Where("1", 1, (0,)), Where("1", 2, (0,)), Where("1", 1, (1,)), Where("1", 1, (0,))]
    for where in asked:
        perform(gateway(server, sampling=Sampling(seed=7)), where=where)
    seeds = [sent["seed"] for sent in server.requests]
    assert len(set(seeds)) == 3 and seeds[0] == seeds[3]


def test_what_an_endpoint_does_not_take_is_left_out_and_told(
    openai_server: Any, tmp_path: Any
) -> None:
    def refuses(body: dict[str, Any]) -> tuple[int, dict[str, str], Any] | None:
        for name in ("temperature", "reasoning_effort"):
            if name in body:
                said = f"Unsupported value: '{name}' does not support 0.5 with this model."
                return 400, {}, {"error": {"message": said, "param": name}}
        return None

    server = openai_server(respond=refuses)
    sampling = Sampling(temperature=0.5, top_p=0.9, reasoning_effort="low")
    done = perform(gateway(server, sampling=sampling), [system("規則"), user("一")], Choice)
    last = server.requests[-1]
    assert last["top_p"] == 0.9 and not {"temperature", "reasoning_effort"} & set(last)
    exchange = done.usage.sent[-1]
    assert exchange["request"] == last
    assert exchange["left_out"] == ["reasoning_effort", "temperature"]
    assert exchange["reply"]["choices"][0]["message"]["content"]

    from naisei.core import Event

    log = RunLog(tmp_path / "run.db")
    log.append(Event(Where("1", 1, (0,)), "chat", "d", {}, {}, usage=done.usage))
    assert log.sent("1#1") == [("0", "agent", list(done.usage.sent))]
    assert [names for *_, names in log.left_out()] == ["reasoning_effort, temperature"]
    log.close()


def test_tokens_of_the_cache_and_of_thinking_are_counted(openai_server: Any) -> None:
    used = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 15},
    }
    message = {"role": "assistant", "content": "はい"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": used}
    server = openai_server(respond=lambda sent: (200, {}, body))
    usage = perform(gateway(server)).usage
    assert (usage.cached_input, usage.reasoning, usage.tokens) == (80, 15, 120)


class Graded(Choice):
    grade: int = model_field("出来。1〜3", "How good, 1 to 3", ge=1, le=3)
    note: str | None = model_field("ひとこと", "A word", None, max_length=9)


def test_a_schema_holds_what_the_model_needs_and_no_more() -> None:
    """An inner docstring, titles, defaults, nulls and bounds for validators stay here."""
    assert json_schema(Graded, "ja") == {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "action": {"type": "integer"},
            "grade": {"description": "出来。1〜3", "type": "integer", "enum": [1, 2, 3]},
            "note": {"description": "ひとこと", "type": "string"},
        },
        "required": ["thought", "action", "grade", "note"],
        "additionalProperties": False,
    }
    assert json_schema(Graded, "en")["properties"]["note"]["description"] == "A word"
