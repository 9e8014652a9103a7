"""Requests, reads and repairs structured replies."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from naisei.core import (
    Message,
    assistant,
    system,
    user,
)
from naisei.models.base import Mode, Schema
from naisei.models.thoughts import parted
from naisei.near_json import NearJSON, fitted
from naisei.schema import json_schema, prompt_language

_BRACE = re.compile(r"[{\[｛]")
_DECODERS: tuple[Any, ...] = (json.JSONDecoder(strict=False), NearJSON())
_MAX_ERRORS = 5
_MAX_FOUND = 20
#: Limits on braces that start no JSON, and on wasted reading, in text lengths.
_MAX_TRIED, _IN_VAIN = 1_000, 8

_ASK = {
    "ja": "回答は次のJSON Schemaに合うJSONだけにしてください。前置きも説明も要りません。\n{schema}",
    "en": "Answer with JSON that satisfies this JSON Schema, and with nothing else.\n{schema}",
}
_MEND = {
    "ja": "今の回答は使えませんでした。理由：\n{errors}\n次のJSON Schemaに合うJSONだけで、"
    "もう一度答えてください。\n{schema}",
    "en": "That answer could not be used:\n{errors}\nAnswer once more, with nothing but JSON that "
    "satisfies this JSON Schema.\n{schema}",
}
_NO_JSON = {"ja": "- JSONとして読めません", "en": "- it is not JSON"}


@dataclass(frozen=True, slots=True)
class Garbage(Exception):
    """No JSON at all, perhaps through a connection fault: the request is resent."""

    reason: str


@dataclass(frozen=True, slots=True)
class Violation(Exception):
    """JSON that violates the schema. errors: one line each, as sent to the model."""

    errors: tuple[str, ...]


@lru_cache(maxsize=512)
def schema_of(model: type[BaseModel], language: str = "en") -> Schema:
    """The schema of a reply as it is sent (`naisei.schema.json_schema`), under its class name."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", model.__name__)[:64]
    return Schema(name, json_schema(model, language))


def with_schema_in_words(
    messages: tuple[Message, ...], schema: Schema, mode: Mode
) -> tuple[Message, ...]:
    """The messages, with the schema in words where the endpoint does not enforce it.

    The schema joins the first system message, so that the prefix is the same in each call.
    """
    if mode == "json_schema":
        return messages
    ask = _ASK[language_of(messages)].format(schema=_text(schema))
    if messages and messages[0].role == "system":
        return (system(f"{messages[0].content}\n\n{ask}"), *messages[1:])
    return (system(ask), *messages)


def folded(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """For a model without a system role: system text is put before the next user message, and
    roles alternate."""
    out: list[Message] = []
    for message in messages:
        said = replace(message, role="user") if message.role == "system" else message
        if out and out[-1].role == said.role:
            said = replace(said, content=f"{out.pop().content}\n\n{said.content}")
        out.append(said)
    return tuple(out)


def mended(
    messages: tuple[Message, ...], reply: str, schema: Schema, errors: Sequence[str]
) -> tuple[Message, ...]:
    """The conversation, the unusable reply, and why it is unusable; no errors: no JSON."""
    language = language_of(messages)
    listed = "\n".join(f"- {e}" for e in errors[:_MAX_ERRORS]) or _NO_JSON[language]
    ask = _MEND[language].format(errors=listed, schema=_text(schema))
    return (*messages, assistant(reply or "…"), user(ask))


def read(
    text: str, model: type[BaseModel], language: str = "en", notes: list[str] | None = None
) -> BaseModel:
    """Read a reply as a validated object. JSON may be fenced, inside prose or slightly malformed
    (`naisei.near_json`). The last of several matching objects counts, since models draft before
    they answer. language: of error messages. notes: collects repairs.

    Raises:
        Garbage: no JSON object (or array) found.
        Violation: the JSON does not match the schema.
    """
    if not (found := _json_values(text)):
        raise Garbage("empty reply" if not text.strip() else f"no JSON in {text[:80]!r}")
    fits: list[tuple[BaseModel, list[str]]] = []
    wrong: ValidationError | None = None
    for data in reversed(found):
        try:
            fits.append(_valid(data, model))
        except ValidationError as error:
            wrong = wrong or error
    if fits:
        value, done = fits[0]
        if notes is not None:
            notes += done
            if any(other != value for other, _ in fits[1:]):
                notes.append(f"the last of {len(fits)} objects that fit")
        return value
    assert wrong is not None
    raise Violation(
        tuple(
            f"{'.'.join(map(str, e['loc'])) or 'JSON'}: {reason(e, language)}"
            for e in wrong.errors(include_url=False)
        )
    ) from wrong


def _valid(data: object, model: type[BaseModel]) -> tuple[BaseModel, list[str]]:
    """The object, and the repairs made. Raises the `ValidationError` of unrepaired `data`."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        notes: list[str] = []
        try:
            return model.model_validate(fitted(data, model, notes)), notes
        except ValidationError:
            raise error from None


#: The most common pydantic errors in Japanese; others get a general message.
_WHY_JA = {
    "missing": "ありません",
    "extra_forbidden": "このような項目はありません",
    "dict_type": "項目の組で書いてください",
    "model_type": "項目の組で書いてください",
    "no_question": "choice が clarify なら、question に質問を書いてください",
    "int_parsing": "整数で書いてください",
    "int_type": "整数で書いてください",
    "int_from_float": "整数で書いてください",
    "string_type": "文字列で書いてください",
    "string_too_short": "空にしないでください",
    "string_too_long": "{max_length} 文字以内にしてください",
    "bool_parsing": "true か false で書いてください",
    "bool_type": "true か false で書いてください",
    "list_type": "配列で書いてください",
    "tuple_type": "配列で書いてください",
    "too_long": "{max_length} 個以内にしてください",
    "too_short": "{min_length} 個以上にしてください",
    "less_than_equal": "{le} 以下にしてください",
    "greater_than_equal": "{ge} 以上にしてください",
    "literal_error": "{expected} のどれかにしてください",
}


def reason(error: ErrorDetails, language: str) -> str:
    """Describe what is wrong with a field."""
    said = error["msg"].removeprefix("Value error, ")
    if language != "ja" or error["type"] == "value_error":
        return said
    context = {k: str(v).replace(" or ", ", ") for k, v in error.get("ctx", {}).items()}
    return _WHY_JA.get(error["type"], "値の形が違います").format(**context)


def _json_values(text: str) -> list[object]:
    """The last JSON objects and arrays in a text, in order; none if the last is cut off.

    Ignores thoughts, and values inside a value already read or one that is cut off: half an
    answer may match a schema by chance.
    """
    text = _within(parted(text).answer.rstrip().removesuffix("```").rstrip())
    found: deque[object] = deque(maxlen=_MAX_FOUND)
    at, tried, left = 0, 0, _IN_VAIN * len(text)
    while brace := _BRACE.search(text, at):
        at = brace.start()
        for decoder in _DECODERS:
            try:
                data, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                tried, left = tried + 1, left - (error.pos - at)
                cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
            except (RecursionError, ValueError):  # too deep, or a number with thousands of digits
                return []
            else:
                found.append(data)
                break
        else:
            if cut or tried > _MAX_TRIED or left < 0:
                return []
            at += 1
    return list(found)


def _within(text: str) -> str:
    """Unwrap JSON encoded as a JSON string; else unchanged."""
    try:
        inner = json.loads(text) if text[:1] == '"' else None
    except ValueError:
        return text
    return inner if isinstance(inner, str) and _BRACE.search(inner) else text


def language_of(messages: Sequence[Message]) -> str:
    """`ja` or `en`: the language of the prompt (the first message)."""
    return prompt_language(messages[0].content) if messages else "en"


def _text(schema: Schema) -> str:
    return json.dumps(schema.json, ensure_ascii=False, separators=(",", ":"))
