"""Chat completions as endpoints write them: whole, streamed, or with content in other fields."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from naisei.lengths import REPLY, REPLY_TEXT
from naisei.models.base import BadReply, ChatReply, Transient, Unusable
from naisei.models.providers._endpoint import of_status, short
from naisei.text_files import json_of, whole_characters

_TOO_LONG = f"the reply has over {REPLY_TEXT:,} characters"

# Made once: `json.dumps` with options makes an encoder a call.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def told_within(error: Any) -> Transient | Unusable:
    """A failure that comes with the status of a success."""
    code = error.get("code") if isinstance(error, dict) else 0
    return of_status(code if isinstance(code, int) and 400 <= code < 600 else 500, error)


async def lines(blocks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Lines of a stream of UTF-8. Raises `UnicodeDecodeError` for another encoding."""
    held: list[bytes] = []
    async for block in blocks:
        *ended, rest = block.split(b"\n")
        for line in ended:
            yield b"".join([*held, line]).decode()
            held.clear()
        held.append(rest)
    yield b"".join(held).decode()


async def joined(
    given_lines: AsyncIterator[str], told: Callable[[str], None] | None
) -> dict[str, Any]:
    """Server-sent pieces of a chat completion as one. Raises `BadReply` if it was cut off."""
    text, finish, whole = "", None, dict[str, Any]()
    beside: dict[str, Any] = {}
    calls: dict[int, str] = {}
    shown = 0  # of a long text, telling each piece would be quadratic work
    async for line in given_lines:
        if not line.startswith("data:"):
            continue
        if (given := line.removeprefix("data:").strip()) == "[DONE]":
            break
        piece = json_of(given, foreign=True)
        if not isinstance(piece, dict):
            raise BadReply(f"the stream failed: {short(piece)}")
        if piece.get("error"):
            raise told_within(piece["error"])
        whole |= {key: piece[key] for key in ("model", "usage") if piece.get(key)}
        try:
            for choice in piece.get("choices") or ():
                finish = choice.get("finish_reason") or finish
                delta = choice.get("delta") or {}
                text += _text(delta.get("content"))
                beside |= {key: delta[key] for key in _BESIDE if delta.get(key)}
                for n, call in enumerate(delta.get("tool_calls") or ()):
                    at = call.get("index", n)
                    calls[at] = calls.get(at, "") + _arguments(call)
        except (AttributeError, KeyError, TypeError) as error:
            raise BadReply(f"no piece of a chat completion: {short(piece)}") from error
        if len(text) + sum(map(len, calls.values())) > REPLY:
            raise BadReply(_TOO_LONG)
        if told is not None and len(text) > shown:
            told(text)
            shown = len(text) + len(text) // 200
    if finish is None:
        raise BadReply("the stream was cut off")
    made = [{"function": {"arguments": text}} for text in calls.values()]
    message = {"content": text, **beside, **({"tool_calls": made} if made else {})}
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


#: Other fields in which a model may write its content.
_BESIDE = ("reasoning_content", "reasoning", "refusal")


def reply_of(data: Any, model: str, sent: dict[str, Any], *, structured: bool) -> ChatReply:
    """Raises `BadReply` if it is not a chat completion."""
    try:
        choice = data["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = _text(message.get("content"))
        calls = message.get("tool_calls") or ()
        if structured and calls:
            # The requested object may come as a tool call.
            text = "\n".join([text, *map(_arguments, calls)]).strip()
        if len(text) > REPLY_TEXT:
            raise BadReply(_TOO_LONG)
        text.encode()  # raises for half a character
        found = (name for name in (*_BESIDE, "tool_calls") if message.get(name))
        used = data.get("usage")
        used = used if isinstance(used, dict) else {}
        return ChatReply(
            text=text,
            finish_reason=finish,
            input_tokens=_count(used, "prompt_tokens"),
            output_tokens=_count(used, "completion_tokens"),
            cached_input=_count(used.get("prompt_tokens_details"), "cached_tokens"),
            reasoning=_count(used.get("completion_tokens_details"), "reasoning_tokens"),
            elsewhere=next(found, ""),
            sent=sent,
            raw=whole_characters(data),
            model=whole_characters(str(data.get("model") or model)),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise BadReply(f"no chat completion: {short(data)}") from error


def _count(used: Any, name: str) -> int:
    """Tokens; 0 where it is no number."""
    value = used.get(name) if isinstance(used, dict) else None
    text = str(value).removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _arguments(call: Any) -> str:
    given = (call.get("function") or {}).get("arguments") or ""
    return given if isinstance(given, str) else encode(given)


def _text(content: Any) -> str:
    """A message's words: a text, a list of parts, an object that was asked for, or none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return encode(content)
    kinds = ("text", "output_text")
    return "".join(part["text"] for part in content if part.get("type") in kinds)
