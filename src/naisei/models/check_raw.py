"""What only a raw request to an OpenAI-compatible endpoint tells: tools, logprobs, context.

client: an `openai.AsyncOpenAI`, or `None` where the endpoint speaks another language.
"""

from __future__ import annotations

from typing import Any

from naisei.models.check_report import Finding

__all__ = ["context_window", "logprobs", "tools"]

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
