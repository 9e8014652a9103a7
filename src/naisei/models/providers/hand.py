"""`hand:NAME`: a person answers instead of a model, in a terminal.

Requests wait in a folder (`NAISEI_HAND`, else `runs/hand`) until somebody answers them with
`naisei models hand`, started in the same folder as the run.
Several requests may wait at once, and several people may answer; drafts are saved. Any role can be
a person (`--simulator-model hand:aya`): as for any model, the log has the name, the prompt and the
answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from naisei.core import InputError, fingerprint
from naisei.files import lives, write_atomically
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest, ModelSettings

_ID = re.compile(r"[0-9a-f]{16}")
#: Polling interval in seconds.
_LOOK = 0.2


class Ask(BaseModel):
    """One request that waits. who: the NAME of `hand:NAME`. at: episode and step. asked: seconds
    since the epoch. pid: of the process that waits. form: the JSON schema, `{}` for plain text."""

    model_config = ConfigDict(frozen=True)

    id: str
    who: str
    role: str
    at: str
    asked: float
    pid: int
    messages: tuple[dict[str, str], ...]
    form: dict[str, Any] = {}

    @property
    def fields(self) -> dict[str, dict[str, Any]]:
        """The fields to fill in, in order; plain text has one field, `text`."""
        found: dict[str, dict[str, Any]] = self.form.get("properties", {})
        return found or {"text": {"type": "string"}}


class Mailbox:
    """The folder in which requests wait for answers."""

    def __init__(self) -> None:
        self.root = Path(os.environ.get("NAISEI_HAND") or Path("runs") / "hand")

    def put(self, ask: Ask) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(ask.id, "ask"), ask.model_dump_json(indent=1))

    def waiting(self) -> list[Ask]:
        """Pending requests, oldest first."""
        found = (self.get(path.name.partition(".")[0]) for path in self.root.glob("*.ask.json"))
        return sorted((ask for ask in found if ask is not None), key=lambda ask: ask.asked)

    def get(self, id: str) -> Ask | None:
        """A pending request; `None` if answered or withdrawn."""
        if not _ID.fullmatch(id) or self._path(id, "answer").exists():
            return None
        try:
            ask = Ask.model_validate_json(self._path(id, "ask").read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            return None
        return ask if lives(ask.pid) else None

    def draft(self, id: str) -> dict[str, str]:
        """Draft text by field."""
        try:
            found: dict[str, str] = json.loads(self._path(id, "draft").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def keep(self, id: str, draft: Mapping[str, str]) -> None:
        """Save a draft. Raises `InputError` if the request is not pending."""
        self._known(id)
        write_atomically(self._path(id, "draft"), json.dumps(dict(draft), ensure_ascii=False))

    def answer(self, id: str, text: str) -> None:
        """Answer a request. Raises `InputError` if it is not pending."""
        self._known(id)
        write_atomically(self._path(id, "answer"), json.dumps({"text": text}, ensure_ascii=False))

    def taken(self, id: str) -> str | None:
        """Take the answer, removing the request; `None` if there is none yet."""
        try:
            found = json.loads(self._path(id, "answer").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        for kind in ("ask", "draft", "answer"):
            self._path(id, kind).unlink(missing_ok=True)
        return str(found["text"])

    def withdraw(self, id: str) -> None:
        """Withdraw a request, but not its draft."""
        self._path(id, "ask").unlink(missing_ok=True)

    def _known(self, id: str) -> None:
        if self.get(id) is None:
            raise InputError(
                say("この依頼はもう待たれていません", "nobody waits for this answer any more")
            )

    def _path(self, id: str, kind: str) -> Path:
        return self.root / f"{id}.{kind}.json"


class HandModel:
    """A `ChatModel` whose replies a person writes. Waits without a time limit."""

    #: Makes no calls, so it is allowed where model calls are forbidden, and is free.
    offline = True
    free = True
    ignores = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")

    def __init__(self, name: str, who: str, box: Mailbox) -> None:
        self.name, self._who, self._box, self._told = name, who, box, False

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Wait for and return the answer."""
        messages = tuple({"role": m.role, "content": m.content} for m in request.messages)
        form = request.schema.json if request.schema is not None else {}
        ask = Ask(
            id=fingerprint([self._who, request.role, request.at, messages, form]),
            who=self._who,
            role=request.role,
            at=request.at,
            asked=time.time(),
            pid=os.getpid(),
            messages=messages,
            form=form,
        )
        self._box.put(ask)
        self._tell()
        try:
            while (text := self._box.taken(ask.id)) is None:
                await asyncio.sleep(_LOOK)
        finally:
            self._box.withdraw(ask.id)
        return ChatReply(
            text=text,
            input_tokens=sum(len(m.content) for m in request.messages),
            output_tokens=len(text),
            model=self.name,
            raw={"text": text, "by": self._who},
        )

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            print(
                say(
                    f"{self.name} の回答を待っています。naisei models hand で答えてください",
                    f"waiting for {self.name}: answer with naisei models hand",
                ),
                file=sys.stderr,
            )

    async def aclose(self) -> None:
        """Nothing to close."""


def build(name: str, settings: ModelSettings) -> HandModel:
    """`hand:` or `hand:NAME`. Ignores the settings."""
    return HandModel(f"hand:{name}", name, Mailbox())


def reply_of(ask: Ask, given: Mapping[str, str]) -> str:
    """The reply from a filled-in form: the text, or JSON with the fields in order.

    Lists of plain values have one value per line; other lists and objects are JSON.

    Raises:
        InputError: a required field is empty, or a value does not match its type.
    """
    if not ask.form:
        if not (text := given.get("text", "").strip()):
            raise _unfit("text", say("何か書いてください", "write something"))
        return text
    values = {name: _value(name, part, given.get(name, "")) for name, part in ask.fields.items()}
    return json.dumps(values, ensure_ascii=False)


def _value(name: str, part: dict[str, Any], given: str) -> JsonValue:
    given = given.strip()
    if "enum" in part:
        known: dict[str, JsonValue] = {str(value): value for value in part["enum"]}
        if given in known:
            return known[given]
        listed = ", ".join(known)
        raise _unfit(name, say(f"{listed} のどれかを選んでください", f"choose one of {listed}"))
    kind = part.get("type")
    if kind == "string":
        return given
    if kind == "array" and "properties" not in part.get("items", {}) and given[:1] != "[":
        return [_value(name, part["items"], line) for line in given.splitlines() if line.strip()]
    try:
        value: JsonValue = json.loads(given)
    except ValueError:
        value = None
    types = {"integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
    wanted = types.get(str(kind), object)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean"):  # type: ignore[arg-type]
        words = {
            "integer": say("整数を書いてください", "write a whole number"),
            "number": say("数を書いてください", "write a number"),
            "boolean": say("true か false を選んでください", "choose true or false"),
        }
        raise _unfit(name, words.get(str(kind), say("JSON で書いてください", "write JSON")))
    return value


def _unfit(field: str, why: str) -> InputError:
    return InputError(why, place=field)
