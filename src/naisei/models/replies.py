"""Replies: structured ones asked for, read and mended; a cache of them in SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from naisei.core import (
    Chat,
    InputError,
    Message,
    Sampling,
    Where,
    assistant,
    canonical,
    fingerprint,
    system,
    user,
)
from naisei.identity import of_model
from naisei.lang import say
from naisei.models.base import ChatModel, Mode, Schema
from naisei.schema import json_schema, spoken_in

_THOUGHT = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
_THOUGHT_ENDS = "</think>"
_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"[{\[]")
#: What models write where a scale is shown as -3..+3. It is no JSON, and tells its number.
_PLUS = re.compile(r"([:,\[]\s*)\+(?=\d)")
_DECODER = json.JSONDecoder(strict=False)
_MAX_ERRORS = 5
_MAX_FOUND = 20
#: Braces at which no JSON begins, and what may be read in vain, in lengths of the text.
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
    """No JSON at all. A fault of the line as likely as of the model: the request is resent."""

    reason: str


@dataclass(frozen=True, slots=True)
class Violation(Exception):
    """JSON, but not what the schema asks for. errors: one line each, as the model is told."""

    errors: tuple[str, ...]


@lru_cache(maxsize=512)
def schema_of(model: type[BaseModel], language: str = "en") -> Schema:
    """The schema of a reply as it is sent (`naisei.schema.json_schema`), under its class name."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", model.__name__)[:64]
    return Schema(name, json_schema(model, language))


def shown(messages: tuple[Message, ...], schema: Schema, mode: Mode) -> tuple[Message, ...]:
    """The messages, with the schema in words where the endpoint does not enforce it.

    It joins the first system message, so that the prefix stays the same from call to call.
    """
    if mode == "json_schema":
        return messages
    ask = _ASK[language_of(messages)].format(schema=_text(schema))
    if messages and messages[0].role == "system":
        return (system(f"{messages[0].content}\n\n{ask}"), *messages[1:])
    return (system(ask), *messages)


def mended(
    messages: tuple[Message, ...], reply: str, schema: Schema, errors: Sequence[str]
) -> tuple[Message, ...]:
    """The conversation, the unusable reply, and why it is unusable; no errors: no JSON."""
    language = language_of(messages)
    listed = "\n".join(f"- {e}" for e in errors[:_MAX_ERRORS]) or _NO_JSON[language]
    ask = _MEND[language].format(errors=listed, schema=_text(schema))
    return (*messages, assistant(reply or "…"), user(ask))


def read(text: str, model: type[BaseModel], language: str = "en") -> BaseModel:
    """The reply as a validated object. JSON may stand in a fence or amid prose, and a number in it
    may have a plus sign. language: of what is said of a violation.

    Raises:
        Garbage: no JSON object (or array) is in it.
        Violation: what is in it does not satisfy the schema.
    """
    found = _found(text) or _found(_PLUS.sub(r"\1", text))
    if not found:
        raise Garbage("empty reply" if not text.strip() else f"no JSON in {text[:80]!r}")
    first: ValidationError | None = None
    for data in found:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            first = first or error
    assert first is not None
    raise Violation(
        tuple(
            f"{'.'.join(map(str, e['loc'])) or 'JSON'}: {_why(e, language)}"
            for e in first.errors(include_url=False)
        )
    ) from first


#: What pydantic says most often of a reply, in Japanese; the rest is told in general words.
_WHY_JA = {
    "missing": "ありません",
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


def _why(error: ErrorDetails, language: str) -> str:
    """What is wrong with a field, in the language of the prompt."""
    said = error["msg"].removeprefix("Value error, ")
    if language != "ja" or error["type"] == "value_error":
        return said
    context = {k: str(v).replace(" or ", ", ") for k, v in error.get("ctx", {}).items()}
    return _WHY_JA.get(error["type"], "値の形が違います").format(**context)


def _found(text: str) -> list[object]:
    """The JSON objects and arrays in a text, in order; none if the last is cut off.

    What a model thinks aloud is no answer. What stands inside a value that was read, or
    that was cut off, is no answer either: half an answer may satisfy a schema by chance.
    """
    text = without_thoughts(text).rstrip().removesuffix("```").rstrip()
    found: list[object] = []
    at, tried, left = 0, 0, _IN_VAIN * len(text)
    while (brace := _BRACE.search(text, at)) and len(found) < _MAX_FOUND:
        at = brace.start()
        try:
            data, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            tried, left = tried + 1, left - (error.pos - at)
            if error.pos >= len(text) or error.msg.startswith("Unterminated"):
                return []
            if tried > _MAX_TRIED or left < 0:
                return []
            at += 1
        except (RecursionError, ValueError):  # too deep, or a number of thousands of digits
            return []
        else:
            found.append(data)
    return found


def without_thoughts(text: str) -> str:
    """What a model says, without what it thinks aloud before it: that is no part of the answer."""
    if (last := text.rfind(_THOUGHT_ENDS)) < 0:
        return text
    # Beyond the last end no thought ends; looking for one from each beginning is quadratic.
    gap = _SPACE.match(text, last + len(_THOUGHT_ENDS))
    assert gap is not None
    return _THOUGHT.sub("", text[: gap.end()]) + text[gap.end() :]


def language_of(messages: Sequence[Message]) -> str:
    """`ja` or `en`: that of the prompt, which is the first message."""
    return spoken_in(messages[0].content) if messages else "en"


def _text(schema: Schema) -> str:
    return json.dumps(schema.json, ensure_ascii=False, separators=(",", ":"))


# A cache of model replies in SQLite: an unchanged call is answered without a model.
#
# The key holds everything that makes a call what it is, its place in the run included: without
# (instance, trial, step, sampling) every trial of an instance would get the first one's reply,
# and pass@k would silently become pass@1. How structure is asked for (the mode) is no part of
# the key: it depends on the endpoint, not on the question. A model that is a script or code on this
# machine is another one after it was edited.

_TABLE = "create table if not exists replies (key text primary key, value text not null)"


def cache_key(model: ChatModel, chat: Chat[object], sampling: Sampling, where: Where) -> str:
    """The digest of model, its code here, endpoint, messages, schema, sampling, instance, trial
    and step."""
    return fingerprint(
        [
            model.name,
            of_model(model.name),
            getattr(model, "base_url", None),
            chat.request(),
            sampling.to_json(),
            where.instance,
            where.trial,
            list(where.path),
        ]
    )


class ReplyCache:
    """Validated values by key, as JSON. Several processes may share one file.

    Raises:
        InputError: the file is no SQLite data base, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                say(
                    f"応答のキャッシュとして使えません: {error}",
                    f"cannot be used as a cache of replies: {error}",
                ),
                place=str(path),
                remedy=say(
                    "別のファイルを指定するか、このファイルを消してください",
                    "name another file, or delete it",
                ),
            ) from error

    def get(self, key: str) -> tuple[JsonValue] | None:
        """The value, in a tuple (a value may be null), or `None`."""
        row = self._db.execute("select value from replies where key = ?", (key,)).fetchone()
        return None if row is None else (json.loads(row[0]),)

    def put(self, key: str, value: JsonValue) -> None:
        """The first value of a key stays: calls that ran side by side agree afterwards."""
        self._db.execute("insert or ignore into replies values (?, ?)", (key, canonical(value)))

    def close(self) -> None:
        self._db.close()
