"""The embedded model. The marked tests start llama.cpp on real weights."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from naisei.core import InputError, Sampling, system, user
from naisei.models.base import ChatReply, ChatRequest, Schema, Unusable
from naisei.models.providers.local import LocalModel, build, json_grammar
from naisei.models.pull import pull
from naisei.models.weights import find


class Ask(BaseModel):
    kind: Literal["ask"]
    question: str = Field(max_length=40)


class Do(BaseModel):
    kind: Literal["do"]
    action: int = Field(ge=7, le=9)


class Choice(BaseModel):
    thought: str = Field(max_length=60)
    choice: Annotated[Ask | Do, Field(discriminator="kind")]


CHOICE = Schema("choice", Choice.model_json_schema())


def test_a_grammar_carries_the_schema_and_fixes_white_space() -> None:
    head, start = json_grammar(CHOICE.json).rstrip().split("\n")
    assert head == "%llguidance {}"
    body = json.loads(start.removeprefix("start: %json "))
    assert body.pop("x-guidance")["whitespace_flexible"] is False
    closed = body["$defs"]["Do"]
    assert closed.pop("additionalProperties") is False
    assert closed == CHOICE.json["$defs"]["Do"]
    assert "additionalProperties" not in CHOICE.json["$defs"]["Do"]
    open_ = {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}
    assert '"additionalProperties": {"type"' in json_grammar(open_)


def test_weights_that_are_not_here_are_asked_for_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="naisei models pull smollm2-135m"):
        build("smollm2-135m")


def ask(model: LocalModel, request: ChatRequest) -> ChatReply:
    return asyncio.run(model.complete(request))


@pytest.fixture(scope="module")
def small() -> LocalModel:
    pull(find("smollm2-135m"))
    return build("smollm2-135m")


@pytest.mark.embedded
def test_text_tokens_and_limits(small: LocalModel) -> None:
    request = ChatRequest(
        (system("Answer briefly."), user("Name three colours.")),
        Sampling(temperature=0.0, max_tokens=5),
    )
    reply = ask(small, request)
    assert reply.finish_reason == "length"
    assert reply.output_tokens == 5
    assert reply.input_tokens > 10
    assert reply.text
    assert reply.model.startswith("SmolLM2-135M")


@pytest.mark.embedded
@pytest.mark.parametrize("seed", range(4))
def test_a_strict_schema_holds_even_for_a_model_that_rambles(small: LocalModel, seed: int) -> None:
    request = ChatRequest(
        (user("Decide what to do."),),
        Sampling(temperature=2.0, max_tokens=400, seed=seed),
        CHOICE,
        "json_schema",
    )
    reply = ask(small, request)
    assert reply.finish_reason == "stop"
    decided = Choice.model_validate_json(reply.text, extra="forbid")
    assert reply.text.startswith('{"thought": "')
    assert isinstance(decided.choice, Ask | Do)


@pytest.mark.embedded
def test_a_prompt_beyond_the_context_is_refused_for_good(small: LocalModel) -> None:
    with pytest.raises(Unusable, match="context size") as caught:
        ask(small, ChatRequest((user("one two three " * 5000),)))
    assert not caught.value.hopeless


@pytest.mark.embedded
def test_a_schema_that_no_grammar_holds_is_refused_as_a_mode(small: LocalModel) -> None:
    field = {"type": "string", "pattern": "^(?=x)y"}
    schema = Schema("s", {"type": "object", "properties": {"a": field}, "required": ["a"]})
    with pytest.raises(Unusable) as caught:
        ask(small, ChatRequest((user("hi"),), Sampling(max_tokens=5), schema, "json_schema"))
    assert caught.value.of_form


@pytest.mark.embedded
def test_the_process_ends_cleanly_and_says_nothing(small: LocalModel) -> None:
    code = (
        "import asyncio\n"
        "from naisei.models.providers.local import build\n"
        "from naisei.models.base import ChatRequest\n"
        "from naisei.core import user, Sampling\n"
        "request = ChatRequest((user('hi'),), Sampling(max_tokens=3))\n"
        f"print(asyncio.run(build({str(small.path)!r}).complete(request)).output_tokens)\n"
    )
    env = {**os.environ, "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


@pytest.mark.embedded
def test_a_file_that_is_no_model_is_unusable(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 64)
    with pytest.raises(Unusable, match="cannot load"):
        ask(build(str(path)), ChatRequest((user("hi"),)))
