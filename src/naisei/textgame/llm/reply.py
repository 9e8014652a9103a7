"""How a model answers: by JSON schema, or by filling in a template."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

__all__ = ["Command", "ConsideredCommand", "Reply", "from_template"]


class Command(BaseModel):
    """The next command, as it stands in the list."""

    model_config = ConfigDict(frozen=True)

    action: str


class ConsideredCommand(BaseModel):
    """Thoughts first, then the command: what is written first guides what follows."""

    model_config = ConfigDict(frozen=True)

    consideration: str
    action: str


class Reply(BaseModel):
    """What a model wrote. action: empty where the template was not kept to. raw: all of it."""

    model_config = ConfigDict(frozen=True)

    consideration: str = ""
    action: str = ""
    raw: str


_LABEL = re.compile(r"^[\s>#*_]*(consideration|(?:next )?action)[*_]*\s*:[*_]*[ \t]*", re.I | re.M)

#: What some models think aloud before they answer.
_ASIDE = re.compile(r"<think>.*?</think>", re.S)


def from_template(text: str) -> Reply:
    """The parts of a filled-in template.

    There must be one action; a model that names several different ones has not chosen.
    """
    pieces = _LABEL.split(_ASIDE.sub("", text))
    considered, actions = "", []
    for label, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = body.strip()
        if label.lower() == "consideration":
            considered = considered or body
        elif body:
            actions.append(body.splitlines()[0].strip())
    chosen = actions[0] if len({a.casefold() for a in actions}) == 1 else ""
    return Reply(consideration=considered, action=chosen, raw=text)
