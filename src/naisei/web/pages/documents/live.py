"""The conversation as a flow: step after step, each a question back or an answer."""

from __future__ import annotations

from typing import NoReturn

from naisei.core import AskUser, Flow, Say
from naisei.intent.flow import personal
from naisei.intent.rules import Setting
from naisei.intent.sitting import Standing

__all__ = ["ASSISTANT", "inquiry"]

ASSISTANT = "assistant"


def inquiry(setting: Setting, *, user: str) -> Flow[NoReturn]:
    """Requests without end; whoever has had enough closes the page."""
    standing = Standing()
    while True:
        last = standing.last
        said = yield from AskUser(last.message if last is not None and standing.open else "")
        dialogue = standing.next(said)
        reply = yield from personal(dialogue, setting, user=user)
        # `reply.failures` are the operator's matter and stay in the log of the effects.
        yield from Say(
            reply.message,
            ASSISTANT,
            {
                "reply": reply.model_dump(mode="json", exclude={"message", "hits", "failures"}),
                "degraded": bool(reply.failures),
            },
        )
        standing = standing.with_step(dialogue).with_replies([*standing.replies, reply])
