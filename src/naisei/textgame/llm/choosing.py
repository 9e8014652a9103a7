"""Asking a model for one of the candidates: parsed strictly, repaired once, else a fallback."""

from __future__ import annotations

from collections.abc import Sequence

from naisei import prompts
from naisei.core import Chat, Flow, Message, assistant, user
from naisei.textgame.llm.matching import matched
from naisei.textgame.llm.options import LLMOptions
from naisei.textgame.llm.reply import Command, ConsideredCommand, Reply, from_template
from naisei.textgame.schemas import Decision

__all__ = ["choose", "fallback"]

PACKAGE = "naisei.textgame.llm"

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
