"""Checks a model's endpoint: whether it answers, follows a schema, reports usage; its speed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from naisei.core import Message, Sampling, system, user
from naisei.lang import say
from naisei.models.base import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Mode,
    Schema,
    Transient,
    Unusable,
    check_allowed,
)
from naisei.models.connection import Connection
from naisei.models.costs import CallCost
from naisei.models.pacing import RetryPolicy, Throttle
from naisei.text_files import json_of

_LABELS = {
    "chat": ("会話", "chat"),
    "system": ("システムメッセージ", "system message"),
    "json_schema": ("JSON Schema", "JSON schema"),
    "json_object": ("JSON", "JSON object"),
    "tools": ("ツールの呼び出し", "tools"),
    "logprobs": ("対数確率", "logprobs"),
}
_STATES: dict[bool | None, tuple[str, str, str]] = {
    True: ("○", "使えます", "works"),
    False: ("×", "使えません", "no"),
    None: ("？", "わかりません", "unknown"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One capability of a model. works: `None` if unknown. why: the reply on failure."""

    name: str
    works: bool | None
    why: str = ""

    def __str__(self) -> str:
        mark, ja, en = _STATES[self.works]
        why = f" ({self.why})" if self.why else ""
        return f"{mark} {say(*_LABELS[self.name])}: {say(ja, en)}{why}"


@dataclass(frozen=True, slots=True)
class Speed:
    """latency: seconds for a one-token reply. prompt, generated: tokens per second; `None` if the
    endpoint counts no tokens or the difference is noise."""

    latency: float
    prompt: float | None = None
    generated: float | None = None

    def __str__(self) -> str:
        prompt, generated = (
            say("不明", "unknown") if rate is None else f"{rate:.1f} tok/s"
            for rate in (self.prompt, self.generated)
        )
        return say(
            f"速さ：1トークンの返事まで{self.latency:.2f}秒、入力{prompt}、生成{generated}",
            f"speed: {self.latency:.2f} s to a reply of one token, prompt {prompt}, "
            f"generated {generated}",
        )


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings about one model. context: in tokens, `None` if not reported."""

    model: str
    findings: tuple[Finding, ...]
    context: int | None = None
    speed: Speed | None = None

    @property
    def usable(self) -> bool:
        """Whether the model answers."""
        return any(f.name == "chat" and f.works for f in self.findings)

    def lines(self) -> list[str]:
        """The report's lines in the user's language."""
        tokens = say(f"{self.context} トークン", f"{self.context} tokens")
        context = tokens if self.context else say("不明", "unknown")
        label = say("文脈長", "context window")
        speed = [] if self.speed is None else [f"  {self.speed}"]
        return [self.model, *(f"  {f}" for f in self.findings), f"  {label}: {context}", *speed]

    def to_json(self) -> dict[str, JsonValue]:
        """The report as JSON; `null` means unknown."""
        speed = self.speed
        return {
            "model": self.model,
            **{f.name: f.works for f in self.findings},
            "context": self.context,
            "latency_s": speed.latency if speed else None,
            "prompt_tokens_per_s": speed.prompt if speed else None,
            "generated_tokens_per_s": speed.generated if speed else None,
        }


#: The question does not mention JSON, so a reply in this form was enforced.
_SCHEMA = Schema(
    "colour",
    {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["akane", "moegi", "ruri"]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)


async def check(model: ChatModel, *, speed: bool = True) -> CheckReport:
    """Test a model. speed: also measure speed (three longer requests).

    Raises:
        InputError: the endpoint cannot be reached, or refuses every request (key, name).
        ModelCallForbidden: model calls are switched off.
    """
    check_allowed(model)
    line = Connection(model, Throttle(), RetryPolicy(attempts=4), adapts=False)
    asked = [user("「はい」とだけ答えてください。")]
    chat = await _chat(line, "chat", asked, lambda text: bool(text.strip()))
    if not chat.works:
        return CheckReport(model.name, (chat,))
    obeying = [system("どの質問にも「るり」の一語だけで答えてください。"), user("こんにちは。")]
    colour = [user("好きな色を一つ、理由と一緒に文章で教えてください。")]
    json = [user('色を一つ、JSONで。形：{"color": "…"}')]
    findings = (
        chat,
        # It may be accepted but ignored, as small models do.
        await _chat(line, "system", obeying, lambda text: "るり" in text or None),
        await _chat(line, "json_schema", colour, _is_colour, "json_schema"),
        await _chat(line, "json_object", json, _is_object, "json_object"),
        await _raw(model, "tools", _has_tool_call, tools=[_TOOL], max_tokens=200),
        await _raw(model, "logprobs", _has_logprobs, logprobs=True, max_tokens=4),
    )
    timed = await _measure(line) if speed else None
    return CheckReport(model.name, findings, await _context_window(model), timed)


def _is_object(text: str) -> bool:
    return isinstance(json_of(text), dict)


def _is_colour(text: str) -> bool:
    data = json_of(text)
    return isinstance(data, dict) and data.get("colour") in ("akane", "moegi", "ruri")


async def _chat(
    line: Connection,
    name: str,
    messages: Sequence[Message],
    right: Callable[[str], bool | None],
    mode: Mode | None = None,
) -> Finding:
    """Whether a request gets the correct answer."""
    if mode is not None and mode not in getattr(line.model, "modes", (mode,)):
        return Finding(name, False)
    sampling = Sampling(temperature=0.0, max_tokens=200)
    schema = _SCHEMA if mode == "json_schema" else None
    try:
        reply = await line.ask(ChatRequest(tuple(messages), sampling, schema, mode), CallCost())
    except (Transient, Unusable) as error:
        return Finding(name, False, str(error))
    try:
        works = right(reply.text)
    except ValueError:
        works = False
    given = say("答え", "it answered")
    return Finding(name, works, "" if works else f"{given}: {reply.text[:60]!r}")


# Checked with raw requests to OpenAI-compatible endpoints: tools, logprobs, context.

_TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city, now.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
_QUESTION = "東京の今の天気を、道具を使って調べてください。"
#: Fields with the context window (vLLM, Groq, OpenRouter, LM Studio, …).
_CONTEXT = (
    "max_model_len",
    "context_window",
    "context_length",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)


async def _raw(
    model: Any, name: str, right: Callable[[dict[str, Any]], bool], **options: Any
) -> Finding:
    """Whether a completion is correct; `None` if raw requests are impossible."""
    if not hasattr(model, "call"):
        return Finding(name, None)
    asked = [{"role": "user", "content": _QUESTION}]
    try:
        body = {"model": model.model_name, "messages": asked, **options}
        works = right((await model.call("chat/completions", body))["choices"][0])
    except (Transient, Unusable) as error:
        return Finding(name, False, str(error))
    except (AttributeError, KeyError, TypeError, IndexError):
        works = False
    return Finding(name, works)


def _has_tool_call(choice: dict[str, Any]) -> bool:
    return bool(choice["message"].get("tool_calls"))


def _has_logprobs(choice: dict[str, Any]) -> bool:
    return bool(choice["logprobs"]["content"])


async def _context_window(model: Any) -> int | None:
    """Context tokens in the endpoint's model list, or `None`."""
    if not hasattr(model, "call"):
        return None
    try:
        listed = (await model.call("models"))["data"]
        mine = [entry for entry in listed if entry["id"] == model.model_name]
        mine = mine or (listed if len(listed) == 1 else [])
        told = [{**entry, **(entry.get("meta") or {})} for entry in mine]
    except (Transient, Unusable, AttributeError, KeyError, TypeError):
        return None
    found = (entry.get(name) for entry in told for name in _CONTEXT)
    return next((tokens for tokens in found if isinstance(tokens, int)), None)


_FILLER = "居間の明かりをつけて、窓を閉めて、湯をわかして、洗濯物をたたみました。"
_NOISE = 0.1


async def _measure(line: Connection) -> Speed | None:
    """Measure latency and tokens per second; `None` if requests fail.

    Each prompt starts with a different number, so that no cached prefix speeds it up.
    """
    try:
        least, short = await _timed(line, "一言で答えてください。", 1)
        read, long = await _timed(line, _FILLER * 20 + "一言で答えてください。", 1)
        write, written = await _timed(line, "一から百まで漢数字で数えてください。", 64)
    except (Transient, Unusable):
        return None

    def rate(tokens: int, seconds: float) -> float | None:
        return tokens / seconds if tokens > 0 and seconds > _NOISE * least else None

    return Speed(
        least,
        rate(long.input_tokens - short.input_tokens, read - least),
        rate(written.output_tokens - short.output_tokens, write - least),
    )


async def _timed(line: Connection, text: str, max_tokens: int) -> tuple[float, ChatReply]:
    prompt = f"{secrets.randbelow(10**6)}。{text}"
    sampling = Sampling(temperature=0.0, max_tokens=max_tokens)
    began = time.perf_counter()
    reply = await line.ask(ChatRequest((user(prompt),), sampling), CallCost())
    return time.perf_counter() - began, reply
