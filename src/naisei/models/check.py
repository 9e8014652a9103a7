"""`naisei models check`: what works with a model, and how fast. A dozen small requests."""

from __future__ import annotations

import json
from typing import Any

from naisei.core import Message, Sampling, user
from naisei.models.base import ChatModel, ChatReply, ChatRequest, Mode, Schema, Transient, Unusable
from naisei.models.check_raw import context_window, logprobs, tools
from naisei.models.check_report import CheckReport, Finding
from naisei.models.check_speed import measure
from naisei.models.forbid import check_allowed
from naisei.models.limits import Throttle
from naisei.models.line import Line, Spent
from naisei.models.retry import Patience

__all__ = ["check"]

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
    line = Line(model, Throttle(), Patience(attempts=4))
    findings = [await _chat(line)]
    if not findings[0].works:
        return CheckReport(model.name, tuple(findings))
    findings += [await _json_schema(line), await _json_object(line)]
    client: Any = getattr(model, "client", None)
    name = str(getattr(model, "model_name", ""))
    findings += [await tools(client, name), await logprobs(client, name)]
    return CheckReport(
        model.name,
        tuple(findings),
        await context_window(client, name),
        await measure(line) if speed else None,
    )


async def _chat(line: Line) -> Finding:
    reply = await _ask(line, [user("「はい」とだけ答えてください。")])
    if isinstance(reply, str):
        return Finding("chat", False, f"会話：できません（{reply}）", f"chat: fails ({reply})")
    if not reply.text.strip():
        return Finding("chat", False, "会話：返事が空です", "chat: the reply is empty")
    return Finding("chat", True, "会話：できます", "chat: works")


async def _json_schema(line: Line) -> Finding:
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


async def _json_object(line: Line) -> Finding:
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


async def _ask(line: Line, messages: list[Message], mode: Mode | None = None) -> ChatReply | str:
    """The reply, or why there is none."""
    schema = _SCHEMA if mode == "json_schema" else None
    if mode is not None and mode not in getattr(line.model, "modes", (mode,)):
        return "-"
    try:
        return await line.ask(ChatRequest(tuple(messages), _SHORT, schema, mode), Spent())
    except (Transient, Unusable) as error:
        return str(error)


def _is_colour(text: str) -> bool:
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return isinstance(data, dict) and data.get("colour") in ("akane", "moegi", "ruri")
