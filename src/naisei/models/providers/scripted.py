"""`scripted:PATH`: a model of known behaviour, from a file of rules.

The reply depends on nothing but the request: not on the clock, not on the order of calls,
so that it is the same at any concurrency, after a resume, and on every machine.
The format is described in `naisei.models.scripts`.
"""

from __future__ import annotations

import json
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatReply, ChatRequest
from naisei.models.scripts import Script, read_script
from naisei.models.settings import ModelSettings

__all__ = ["ScriptedModel", "build"]


def build(name: str, settings: ModelSettings) -> ScriptedModel:
    """Reads the file. No setting matters.

    Raises:
        InputError: no such file, or a mistake in it, with file and line.
    """
    if not name:
        raise InputError(
            say("ファイル名がありません", "a file is missing"),
            place="scripted:",
            remedy=say(
                "scripted:PATH の形で書いてください (.jsonl、.json、.toml)",
                "write scripted:PATH (.jsonl, .json, .toml)",
            ),
        )
    return ScriptedModel(f"scripted:{name}", read_script(Path(name)))


class ScriptedModel:
    """A `ChatModel` that follows a script."""

    #: It calls nobody, so it may run where model calls are forbidden, and costs nothing.
    offline = True
    free = True

    def __init__(self, name: str, script: Script) -> None:
        self.name = name
        self._script = script

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The first rule that fits speaks.

        Raises:
            InputError: no rule fits and the script has no default.
        """
        rule = self._script.rule_for(request)
        reply = rule.reply_to(request)
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        asked = sum(len(m.content) for m in request.messages)
        return ChatReply(
            text=text,
            finish_reason=rule.finish_reason,
            input_tokens=asked if rule.input_tokens is None else rule.input_tokens,
            output_tokens=len(text) if rule.output_tokens is None else rule.output_tokens,
            model=self.name,
        )

    async def aclose(self) -> None:
        """Nothing to close."""
