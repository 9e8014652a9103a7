"""Check of a model's endpoint: does it answer, keep to a schema, report its usage; how fast."""

from __future__ import annotations

import json
import secrets
import time
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


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a model can do or not. works: `None` where it could not be found out."""

    name: str
    works: bool | None
    ja: str
    en: str

    def __str__(self) -> str:
        mark = {True: "○", False: "×", None: "？"}[self.works]
        return f"{mark} {say(self.ja, self.en)}"


@dataclass(frozen=True, slots=True)
class Speed:
    """latency: seconds to a reply of one token. prompt, generated: tokens a second; `None`
    where the endpoint counts no tokens or the difference drowned in the noise."""

    latency: float
    prompt: float | None = None
    generated: float | None = None

    def __str__(self) -> str:
        prompt, generated = _rate(self.prompt), _rate(self.generated)
        return say(
            f"速さ：1トークンの返事まで{self.latency:.2f}秒、入力{prompt}、生成{generated}",
            f"speed: {self.latency:.2f} s to a reply of one token, prompt {prompt}, "
            f"generated {generated}",
        )


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings about one model. context: tokens, `None` if the endpoint does not tell."""

    model: str
    findings: tuple[Finding, ...]
    context: int | None = None
    speed: Speed | None = None

    @property
    def usable(self) -> bool:
        """Whether it answers at all."""
        return any(f.name == "chat" and f.works for f in self.findings)

    def lines(self) -> list[str]:
        """The report in the user's language, a line each."""
        window = f"{self.context}" if self.context else say("不明", "unknown")
        out = [self.model, *(f"  {f}" for f in self.findings)]
        out.append(
            f"  {say('文脈長', 'context window')}{say('：', ': ')}{window}"
            + (say("トークン", " tokens") if self.context else "")
        )
        if self.speed is not None:
            out.append(f"  {self.speed}")
        return out

    def to_json(self) -> dict[str, JsonValue]:
        """The same for programs: `null` is unknown."""
        speed = self.speed
        return {
            "model": self.model,
            **{f.name: f.works for f in self.findings},
            "context": self.context,
            "latency_s": speed.latency if speed else None,
            "prompt_tokens_per_s": speed.prompt if speed else None,
            "generated_tokens_per_s": speed.generated if speed else None,
        }


def _rate(value: float | None) -> str:
    return say("不明", "unknown") if value is None else f"{value:.1f} tok/s"


# What only a raw request to an OpenAI-compatible endpoint tells: tools, logprobs, context.
#
# client: an `openai.AsyncOpenAI`, or `None` where the endpoint speaks another language.

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
#: Names under which servers tell the context window (vLLM, Groq, OpenRouter, LM Studio, …).
_CONTEXT = (
    "max_model_len",
    "context_window",
    "context_length",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)


async def tools(client: Any, model: str) -> Finding:
    """Whether the model calls a tool when one is the obvious thing to call."""
    ja, en = "道具の呼び出し", "tools"
    if client is None:
        return _unknown("tools", ja, en)
    asked = {"role": "user", "content": "東京の今の天気を、道具を使って調べてください。"}
    reply = await _try(client, model, [asked], tools=[_TOOL], max_tokens=200)
    if isinstance(reply, str):
        return _no("tools", ja, en, reply)
    if reply.choices[0].message.tool_calls:
        return Finding("tools", True, f"{ja}：できます", f"{en}: work")
    return _no("tools", ja, en, "no tool was called")


async def logprobs(client: Any, model: str) -> Finding:
    """Whether replies come with the log-probabilities of their tokens."""
    ja, en = "対数確率", "logprobs"
    if client is None:
        return _unknown("logprobs", ja, en)
    asked = {"role": "user", "content": "「はい」とだけ答えてください。"}
    reply = await _try(client, model, [asked], logprobs=True, max_tokens=4)
    if isinstance(reply, str):
        return _no("logprobs", ja, en, reply)
    given = reply.choices[0].logprobs
    if given is not None and given.content:
        return Finding("logprobs", True, f"{ja}：返ります", f"{en}: given")
    return _no("logprobs", ja, en, "none in the reply")


async def context_window(client: Any, model: str) -> int | None:
    """Tokens, if `/v1/models` tells; else `None`."""
    if client is None:
        return None
    from openai import APIError

    try:
        listed = (await client.models.list()).data
    except (APIError, ValueError):
        return None
    mine = [m for m in listed if m.id == model] or (listed if len(listed) == 1 else [])
    for entry in mine:
        told = dict(entry.model_extra or {})
        meta = told.get("meta")
        told |= meta if isinstance(meta, dict) else {}
        for name in _CONTEXT:
            if isinstance(told.get(name), int):
                return int(told[name])
    return None


async def _try(client: Any, model: str, messages: list[dict[str, str]], **options: Any) -> Any:
    """The completion, or why there is none."""
    from openai import APIError

    try:
        reply = await client.chat.completions.create(model=model, messages=messages, **options)
    except (APIError, ValueError) as error:
        return " ".join(str(error).split())[:200]
    return reply if getattr(reply, "choices", None) else "no completion came back"


def _no(name: str, ja: str, en: str, why: str) -> Finding:
    return Finding(name, False, f"{ja}：できません（{why}）", f"{en}: no ({why})")


def _unknown(name: str, ja: str, en: str) -> Finding:
    return Finding(name, None, f"{ja}：調べられません", f"{en}: cannot be found out here")


_FILLER = "居間の明かりをつけて、窓を閉めて、湯をわかして、洗濯物をたたみました。"
_NOISE = 0.1


async def measure(line: Connection) -> Speed | None:
    """Latency, and tokens a second of prompt and reply; `None` if requests fail.

    Every prompt starts with a number of its own, so that no cached prefix makes it fast.
    """
    try:
        short_s, short = await _timed(line, "一言で答えてください。", 1)
        long_s, long = await _timed(line, _FILLER * 20 + "一言で答えてください。", 1)
        write_s, written = await _timed(line, "一から百まで漢数字で数えてください。", 64)
    except (Transient, Unusable):
        return None
    return Speed(
        latency=short_s,
        prompt=_rate_check_speed(long.input_tokens - short.input_tokens, long_s - short_s, short_s),
        generated=_rate_check_speed(
            written.output_tokens - short.output_tokens, write_s - short_s, short_s
        ),
    )


async def _timed(line: Connection, text: str, max_tokens: int) -> tuple[float, ChatReply]:
    prompt = f"{secrets.randbelow(10**6)}。{text}"
    sampling = Sampling(temperature=0.0, max_tokens=max_tokens)
    began = time.perf_counter()
    reply = await line.ask(ChatRequest((user(prompt),), sampling), CallCost())
    return time.perf_counter() - began, reply


def _rate_check_speed(tokens: int, seconds: float, latency: float) -> float | None:
    """Tokens a second; `None` where the difference is within the noise of the latency."""
    return tokens / seconds if tokens > 0 and seconds > _NOISE * latency else None


_SHORT = Sampling(temperature=0.0, max_tokens=200)
#: The question does not mention JSON: who answers in this form was made to.
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
    """Try a model out. speed: measure that too (three longer requests).

    Raises:
        InputError: the endpoint cannot be reached, or refuses every request (key, name).
        ModelCallForbidden: model calls are switched off.
    """
    check_allowed(model)
    line = Connection(model, Throttle(), RetryPolicy(attempts=4), adapts=False)
    findings = [await _chat(line)]
    if not findings[0].works:
        return CheckReport(model.name, tuple(findings))
    findings += [await _system(line), await _json_schema(line), await _json_object(line)]
    client: Any = getattr(model, "client", None)
    name = str(getattr(model, "model_name", ""))
    findings += [await tools(client, name), await logprobs(client, name)]
    return CheckReport(
        model.name,
        tuple(findings),
        await context_window(client, name),
        await measure(line) if speed else None,
    )


async def _chat(line: Connection) -> Finding:
    reply = await _ask(line, [user("「はい」とだけ答えてください。")])
    if isinstance(reply, str):
        return Finding("chat", False, f"会話：できません（{reply}）", f"chat: fails ({reply})")
    if not reply.text.strip():
        return Finding("chat", False, "会話：返事が空です", "chat: the reply is empty")
    return Finding("chat", True, "会話：できます", "chat: works")


async def _system(line: Connection) -> Finding:
    """Whether it takes a system message, and heeds it."""
    ja, en = "システムメッセージ", "system message"
    told = [system("どの質問にも「るり」の一語だけで答えてください。"), user("こんにちは。")]
    reply = await _ask(line, told)
    if isinstance(reply, str):
        return Finding(
            "system",
            False,
            f"{ja}：受け付けません。最初の user の発言に入れて送ります（{reply}）",
            f"{en}: refused; it goes into the first words of the user ({reply})",
        )
    if "るり" in reply.text:
        return Finding("system", True, f"{ja}：守られます", f"{en}: heeded")
    return Finding(
        "system", None, f"{ja}：受け付けますが、守りませんでした", f"{en}: taken, not heeded"
    )


async def _json_schema(line: Connection) -> Finding:
    ask = [user("好きな色を一つ、理由と一緒に文章で教えてください。")]
    reply = await _ask(line, ask, "json_schema")
    if isinstance(reply, str):
        return Finding(
            "json_schema",
            False,
            f"JSON Schema：受け付けません（{reply}）",
            f"JSON schema: refused ({reply})",
        )
    if _is_colour(reply.text):
        return Finding("json_schema", True, "JSON Schema：守られます", "JSON schema: enforced")
    return Finding(
        "json_schema",
        False,
        "JSON Schema：受け付けますが、守られません（設定 structured=prompt を勧めます）",
        "JSON schema: accepted but not enforced (better with structured=prompt)",
    )


async def _json_object(line: Connection) -> Finding:
    reply = await _ask(line, [user('色を一つ、JSONで。形：{"color": "…"}')], "json_object")
    if isinstance(reply, str):
        ja, en = f"JSON：受け付けません（{reply}）", f"JSON object: refused ({reply})"
        return Finding("json_object", False, ja, en)
    try:
        works = isinstance(json.loads(reply.text), dict)
    except ValueError:
        works = False
    if works:
        return Finding("json_object", True, "JSON：守られます", "JSON object: works")
    ja, en = "JSON：受け付けますが、守られません", "JSON object: accepted but not enforced"
    return Finding("json_object", False, ja, en)


async def _ask(
    line: Connection, messages: list[Message], mode: Mode | None = None
) -> ChatReply | str:
    """The reply, or why there is none."""
    schema = _SCHEMA if mode == "json_schema" else None
    if mode is not None and mode not in getattr(line.model, "modes", (mode,)):
        return "-"
    try:
        return await line.ask(ChatRequest(tuple(messages), _SHORT, schema, mode), CallCost())
    except (Transient, Unusable) as error:
        return str(error)


def _is_colour(text: str) -> bool:
    try:
        data = json_of(text)
    except ValueError:
        return False
    return isinstance(data, dict) and data.get("colour") in ("akane", "moegi", "ruri")
