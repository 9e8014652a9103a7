"""`scripted:PATH`: a deterministic model, from rules in JSON lines.

The reply depends only on the request, so it is the same at any concurrency, after a resume, and on
every machine.

Each line of a script is a rule. Rules are tried in order; the first match gives the reply. A rule
without conditions matches everything: put it last.

    {"contains": "休憩", "reply": {"action": 3, "thought": "疲れている"}}
    {"contains": ["庭", "水"], "in": "conversation", "replies": ["いいえ", "はい"]}
    {"schema": "Decision", "fill": {"action": 7}}
    {"reply": "【回答できません】", "tokens": {"input": 12, "output": 8}}

Conditions (all must hold):
    contains: a text, or a list of texts that must all occur.
    regex: a Python regular expression to search for.
    in: where to search: `last` (the last user message, the default), `system` (all system
        messages), `conversation` (every message, joined by line ends).
    schema: the name of the requested schema; "" for plain text requests.
    turn: the number of assistant messages in the conversation.
Reply (one of):
    reply: a text, or a JSON value for structured requests.
    replies: a list of such replies. `by` picks one: `turn` (the default) by the number of
        assistant messages, the last reply for all later turns; `hash` by a hash of the
        conversation, for a varied but reproducible model.
    fill: an object; the rest of the requested schema is filled with first choices. Matches
        structured requests only.
Also: `finish_reason` (default `stop`); `tokens`, `{"input": n, "output": n}`, each optional. By
default, input tokens are the characters of all messages, output tokens the characters of the
reply (JSON as `json.dumps(value, ensure_ascii=False)` writes it).
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest, ModelSettings
from naisei.text_files import json_of, read_text

_WORD = "文"


def fill(schema: dict[str, Any], given: JsonValue = None) -> JsonValue:
    """A value of `schema`: first enum values and alternatives, smallest numbers, short texts.

    given: an object with fixed values. Other optional properties are omitted. Lists have minimum
    length, unbounded numbers are 1, texts are 「文」 repeated.
    """
    return cast(JsonValue, _fill(schema, schema, given))


def _fill(schema: dict[str, Any], root: dict[str, Any], given: JsonValue) -> Any:
    if "$ref" in schema:
        return _fill(_resolved(schema["$ref"], root), root, given)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _fill(_alternative(schema[key], root, given), root, given)
    if isinstance(given, dict) or schema.get("type") == "object":
        return _object(schema, root, given if isinstance(given, dict) else {})
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    return _plain(schema, root)


def _object(schema: dict[str, Any], root: dict[str, Any], given: dict[str, JsonValue]) -> JsonValue:
    parts: dict[str, dict[str, Any]] = schema.get("properties", {})
    needed = schema.get("required", [])
    out: dict[str, JsonValue] = {}
    for name, part in parts.items():
        if name in given:
            value = given[name]
            out[name] = _fill(part, root, value) if isinstance(value, dict) else value
        elif name in needed:
            out[name] = _fill(part, root, None)
    return out | {name: value for name, value in given.items() if name not in parts}


def _plain(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})] * schema.get("minItems", 0)
        return [_fill(item, root, None) for item in items]
    if kind in ("integer", "number"):
        if "exclusiveMinimum" in schema:
            return schema["exclusiveMinimum"] + 1
        return schema.get("minimum", min(1, schema.get("maximum", 1)))
    if kind == "boolean":
        return False
    if kind == "string":
        least, most = schema.get("minLength", 1), schema.get("maxLength", 1)
        return _WORD * min(max(1, least), max(most, least))
    return None


def _alternative(
    choices: list[dict[str, Any]], root: dict[str, Any], given: JsonValue
) -> dict[str, Any]:
    """The first alternative that has every given name, else the first."""
    if not isinstance(given, dict):
        return choices[0]
    for choice in choices:
        parts = _resolved(choice["$ref"], root) if "$ref" in choice else choice
        if set(given) <= set(parts.get("properties", {})):
            return choice
    return choices[0]


def _resolved(ref: str, root: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = root["$defs"][ref.rpartition("/")[2]]
    return found


class Rule(BaseModel):
    """Conditions and a reply."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    contains: str | tuple[str, ...] = ()
    regex: str | None = None
    look_in: Annotated[Literal["last", "system", "conversation"], Field(alias="in")] = "last"
    schema_name: Annotated[str | None, Field(alias="schema")] = None
    turn: int | None = None
    reply: JsonValue = None
    replies: tuple[JsonValue, ...] = ()
    by: Literal["turn", "hash"] = "turn"
    fill: dict[str, JsonValue] | None = None
    finish_reason: str = "stop"
    tokens: dict[Literal["input", "output"], Annotated[int, Field(ge=0)]] = {}

    @model_validator(mode="after")
    def _sound(self) -> Rule:
        given = [name for name in ("reply", "replies", "fill") if name in self.model_fields_set]
        if len(given) != 1:
            raise ValueError("needs exactly one of reply, replies and fill")
        if given == ["replies"] and not self.replies:
            raise ValueError("replies is empty")
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"regex {self.regex!r}: {error}") from error
        return self

    def fits(self, request: ChatRequest) -> bool:
        """Whether every condition holds."""
        name = request.schema.name if request.schema else ""
        if self.schema_name is not None and self.schema_name != name:
            return False
        if self.fill is not None and request.schema is None:
            return False
        if self.turn is not None and self.turn != _turns(request):
            return False
        wanted = (self.contains,) if isinstance(self.contains, str) else self.contains
        if not wanted and self.regex is None:
            return True
        text = _text(request, self.look_in)
        if not all(part in text for part in wanted):
            return False
        return self.regex is None or re.search(self.regex, text) is not None

    def reply_to(self, request: ChatRequest) -> JsonValue:
        """The reply: a text, or a JSON value."""
        if self.fill is not None and request.schema is not None:
            return fill(request.schema.json, self.fill)
        if not self.replies:
            return self.reply
        if self.by == "turn":
            return self.replies[min(_turns(request), len(self.replies) - 1)]
        digest = hashlib.sha256(_text(request, "conversation").encode("utf-8", "surrogatepass"))
        return self.replies[int.from_bytes(digest.digest()[:8], "big") % len(self.replies)]


def _turns(request: ChatRequest) -> int:
    return sum(m.role == "assistant" for m in request.messages)


def _text(request: ChatRequest, where: str) -> str:
    if where == "last":
        return next((m.content for m in reversed(request.messages) if m.role == "user"), "")
    chosen = [m.content for m in request.messages if where != "system" or m.role == "system"]
    return "\n".join(chosen)


@dataclass(frozen=True, slots=True)
class Script:
    """Rules in order, and the file they are from."""

    rules: tuple[Rule, ...]
    place: str

    def rule_for(self, request: ChatRequest) -> Rule:
        """Raises `InputError` if no rule fits."""
        for rule in self.rules:
            if rule.fits(request):
                return rule
        said = request.messages[-1].content if request.messages else ""
        wanted = ""
        if request.schema:
            wanted = say(f" (schema {request.schema.name})", f" for schema {request.schema.name}")
        raise InputError(
            say(
                f"末尾が {said[-60:]!r} の要求{wanted}に合う規則がありません",
                f"no rule fits the request{wanted} that ends {said[-60:]!r}",
            ),
            place=self.place,
            remedy=say(
                '合う規則を足すか、条件のない規則を最後に置いてください: {"reply": "…"}',
                'add a rule for it, or one without conditions at the end: {"reply": "…"}',
            ),
        )


def read_script(path: Path) -> Script:
    """A script from a file of JSON lines.

    Raises:
        InputError: the file is missing, not text, empty or invalid; names the line.
    """
    text = read_text(
        path, remedy=say("スクリプトのファイルを指定してください", "name a script file")
    )
    lines = enumerate(text.split("\n"), 1)
    rules = [_rule(line, f"{path}:{n}") for n, line in lines if line.strip()]
    if not rules:
        raise InputError(
            say("規則が一つもありません", "holds no rule"),
            place=str(path),
            remedy=say(
                '一行に一つ書いてください: {"reply": "…"}', 'write one a line: {"reply": "…"}'
            ),
        )
    return Script(tuple(rules), str(path))


def _rule(line: str, place: str) -> Rule:
    try:
        return Rule.model_validate(json_of(line))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{field}: {said}" if field else said, place=place) from error
    except ValueError as error:
        raise InputError(
            say(f"JSON として読めません: {error}", f"is no JSON: {error}"), place=place
        ) from error


def build(name: str, settings: ModelSettings) -> _ScriptedModel:
    """Read the file; ignores the settings.

    Raises:
        InputError: no such file, or an error in it; names file and line.
    """
    if not name:
        raise InputError(
            say("ファイル名がありません", "a file is missing"),
            place="scripted:",
            remedy=say(
                "scripted:PATH の形で書いてください (.jsonl)", "write scripted:PATH (.jsonl)"
            ),
        )
    return _ScriptedModel(f"scripted:{name}", read_script(Path(name)))


class _ScriptedModel:
    """A `ChatModel` that follows a script."""

    #: Makes no calls, so it is allowed where model calls are forbidden, and is free.
    offline = True
    free = True

    def __init__(self, name: str, script: Script) -> None:
        self.name = name
        self._script = script

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The reply of the first matching rule.

        Raises:
            InputError: no rule matches and the script has no default.
        """
        rule = self._script.rule_for(request)
        reply = rule.reply_to(request)
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        asked = sum(len(m.content) for m in request.messages)
        return ChatReply(
            text=text,
            finish_reason=rule.finish_reason,
            input_tokens=rule.tokens.get("input", asked),
            output_tokens=rule.tokens.get("output", len(text)),
            model=self.name,
        )

    async def aclose(self) -> None:
        """Nothing to close."""
