"""Scripts of the scripted model: rules in JSON lines, JSON or TOML.

A script is a list of rules, tried from the top; the first that fits gives the reply. In a
`.jsonl` file each line is a rule; in `.json` it is a list of rules or `{"rules": […]}`; in
`.toml` each `[[rules]]` is one. A rule without conditions fits everything: put it last.

    {"contains": "休憩", "reply": {"action": 3, "thought": "疲れている"}}
    {"contains": ["庭", "水"], "in": "conversation", "replies": ["いいえ", "はい"]}
    {"schema": "Decision", "fill": {"action": 7}}
    {"reply": "【回答できません】", "tokens": {"input": 12, "output": 8}}

Conditions (all that are given must hold):
    contains: a text, or a list of texts that must all occur.
    regex: a Python regular expression that must be found.
    in: where to look: `last` (the last user message, the default), `system` (all system
        messages), `conversation` (every message, joined by line ends).
    schema: the name of the schema asked for; "" for requests of plain text.
    turn: how many assistant messages the conversation holds.
Reply (one of):
    reply: a text, or a JSON value for structured requests.
    replies: a list of such. `by` picks one: `turn` (the default) by the number of assistant
        messages, the last one for all later turns; `hash` by a hash of the conversation, for
        a varied but reproducible model.
    fill: an object; the schema asked for is filled with first choices around it
        (`naisei.models.filling`). Fits structured requests only.
Besides: `finish_reason` (default `stop`); `tokens`, `{"input": n, "output": n}`, each optional.
Where not given, input tokens are the characters of all messages' contents, output tokens the
characters of the reply (JSON as `json.dumps(value, ensure_ascii=False)` writes it).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatRequest
from naisei.models.rules import Rule
from naisei.text_files import read_text

__all__ = ["Script", "read_script"]


@dataclass(frozen=True, slots=True)
class Script:
    """Rules in order, and the file they came from."""

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
    """A script from a `.jsonl`, `.json` or `.toml` file.

    Raises:
        InputError: the file is missing, no text, empty, or holds a mistake; with the line,
            or the number of the rule.
    """
    text = read_text(
        path, remedy=say("スクリプトのファイルを指定してください", "name a script file")
    )
    readers = {".jsonl": _from_jsonl, ".json": _from_json, ".toml": _from_toml}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            say(
                f"{path.suffix!r} のスクリプトは読めません",
                f"unknown kind of script {path.suffix!r}",
            ),
            place=str(path),
            remedy=say(".jsonl、.json、.toml のどれかにしてください", "use .jsonl, .json or .toml"),
        )
    rules = [_rule(data, place) for place, data in reader(text, path)]
    if not rules:
        raise InputError(say("規則が一つもありません", "holds no rule"), place=str(path))
    return Script(tuple(rules), str(path))


def _from_jsonl(text: str, path: Path) -> list[tuple[str, Any]]:
    out = []
    for n, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                out.append((f"{path}:{n}", json.loads(line)))
            except ValueError as error:
                raise InputError(
                    say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
                    place=f"{path}:{n}",
                ) from error
    return out


def _from_json(text: str, path: Path) -> list[tuple[str, Any]]:
    if not text.strip():
        return []
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            say(f"JSON として読めません: {error.msg}", f"is no JSON: {error.msg}"),
            place=f"{path}:{error.lineno}",
        ) from error
    return _listed(data, path)


def _from_toml(text: str, path: Path) -> list[tuple[str, Any]]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{line[1]}" if line else str(path)
        raise InputError(
            say(f"TOML として読めません: {error}", f"is no TOML: {error}"), place=place
        ) from error
    return _listed(data, path)


def _listed(data: Any, path: Path) -> list[tuple[str, Any]]:
    if isinstance(data, dict) and set(data) <= {"rules"}:
        data = data.get("rules", [])
    if not isinstance(data, list):
        raise InputError(
            say("規則の並びではありません", "is no list of rules"),
            place=str(path),
            remedy=say(
                '並びか、{"rules": […]} を書いてください', 'write a list, or {"rules": […]}'
            ),
        )
    return [(f"{path} rule {n}", rule) for n, rule in enumerate(data, 1)]


def _rule(data: Any, place: str) -> Rule:
    try:
        return Rule.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{field}: {said}" if field else said, place=place) from error
