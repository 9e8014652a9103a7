"""Asking a model for a command, and finding it in what the model wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei import prompts
from naisei.core import Chat, Flow, Message, assistant, user
from naisei.textgame.llm.prompt import PACKAGE, LLMOptions
from naisei.textgame.schemas import Decision

__all__ = [
    "Command",
    "ConsideredCommand",
    "Reply",
    "choose",
    "fallback",
    "from_template",
    "matched",
    "numbered",
]


#: List marks, prompt signs, numbers and the like that precede a command.
_BEFORE = re.compile(r"^(?:[>*\-•·–]+\s*|\d+\s*[.):]\s*|\d+\s+(?=[a-z]))+", re.I)
_NUMBER = re.compile(r"(\d+)[\s.):]*(.*)")
_QUOTES = "\"'`*“”‘’"


def matched(said: str, candidates: Sequence[str]) -> str | None:
    """The candidate that `said` is, apart from case, white space, a final stop, quotes and list
    marks; None if there is none."""
    if said in candidates:
        return said
    known = {" ".join(c.split()).casefold(): c for c in reversed(candidates)}
    bare = _bare(said)
    return known.get(bare) or known.get(_bare(_BEFORE.sub("", bare)))


def numbered(said: str, candidates: Sequence[str]) -> str | None:
    """The same where the list was numbered from 0: the command, the number before it, or the
    number alone. A number that belongs to another command than the one beside it is none."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if len(lines) != 1:
        return None
    found = _NUMBER.fullmatch(_bare(lines[0]))
    if found is None:
        return matched(lines[0], candidates)
    number, rest = int(found[1]), found[2]
    by_number = candidates[number] if number < len(candidates) else None
    return by_number if not rest or matched(rest, candidates) == by_number else None


def _bare(said: str) -> str:
    """In small letters, single spaces, without quotes and final stops around it."""
    before, bare = None, " ".join(said.split()).casefold()
    while bare != before:
        before, bare = bare, bare.strip(_QUOTES).rstrip(".!;,").strip()
    return bare


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


#: What does least harm, best first: it tells something, or can be undone.
_HARMLESS = ("look", "inventory", "examine", "go", "open", "take")


def choose(
    messages: Sequence[Message], candidates: Sequence[str], options: LLMOptions
) -> Flow[Decision]:
    """A decision for one of the candidates, with two counts.

    repairs: 1 if the first reply named none, and the model was shown the list again.
    unmatched: 1 if the second named none either, so that `fallback` was taken: the instrument
    could not read what the model wants, and the command is not the model's.

    Raises (in the flow):
        InstrumentFailure: no usable reply at all, after the gateway's own retries.
    """
    reply = yield from _ask(messages, options)
    action, counts = matched(reply.action, candidates), {"repairs": 0, "unmatched": 0}
    if action is None:
        counts["repairs"] = 1
        said = prompts.render(
            PACKAGE,
            f"repair-{options.reply}.v1",
            "en",
            said=_shown(reply),
            candidates="\n".join(f"- {c}" for c in candidates),
        )
        again = yield from _ask([*messages, assistant(reply.raw), user(said)], options)
        action = matched(again.action, candidates)
        reply = again if again.consideration else reply
    if action is None:
        counts["unmatched"] = 1
        action = fallback(candidates)
    return Decision(action=action, thoughts=reply.consideration, counts=counts)


def fallback(candidates: Sequence[str]) -> str:
    """The candidate that does least harm: `look`, `inventory`, the first to examine, go, open or
    take, in this order; else the first."""
    for verb in _HARMLESS:
        for candidate in candidates:
            if candidate.split(" ", 1)[0] == verb:
                return candidate
    return candidates[0]


def _ask(messages: Sequence[Message], options: LLMOptions) -> Flow[Reply]:
    if options.reply == "template":
        return from_template((yield from Chat("player", messages)))
    if options.thinking:
        full = yield from Chat("player", messages, ConsideredCommand)
        return Reply(**full.model_dump(), raw=full.model_dump_json())
    short = yield from Chat("player", messages, Command)
    return Reply(action=short.action, raw=short.model_dump_json())


def _shown(reply: Reply) -> str:
    """What is quoted back: the command, or that there was none."""
    return f"“{reply.action}”" if reply.action else "(no command)"
