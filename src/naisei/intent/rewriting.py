"""One self-contained question from the dialogue, that keeps what the person said."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.core import Chat, Flow, InstrumentFailure
from naisei.intent.dialogue import Dialogue
from naisei.intent.rules import Setting
from naisei.intent.words import rewriter_messages
from naisei.japanese.content_preservation import lost
from naisei.japanese.query_analysis import analyse_query

__all__ = ["Query", "joined", "rewrite"]

_LONGEST = 4
_ROOM = 60


class Query(BaseModel):
    """text: what is searched for. also: searched for beside it, where not empty: what a worry
    came to, whose first words tell how it feels. how: as it was said, by the model, or the words
    joined. failures: why a model's rewriting was not used."""

    model_config = ConfigDict(frozen=True)

    text: str
    also: str = ""
    how: Literal["unchanged", "model", "joined"]
    failures: tuple[str, ...] = ()


def rewrite(dialogue: Dialogue, setting: Setting) -> Flow[Query]:
    """The input unchanged where there was no dialogue; no model is called then."""
    if dialogue.alone:
        return Query(text=dialogue.utterance, how="unchanged")
    words, also = joined(dialogue), _drawn_out(dialogue)
    if not setting.rules.rewriting or "rewriter" not in setting.rules.roles:
        return Query(text=words, also=also, how="joined")
    try:
        written = yield from Chat("rewriter", rewriter_messages(dialogue, setting))
    except InstrumentFailure as failure:
        return Query(text=words, also=also, how="joined", failures=(f"rewriter: {failure}",))
    text = " ".join(written.split()).strip("「」\"'")
    if not text or len(text) > _ROOM + _LONGEST * len(words):
        return Query(text=words, also=also, how="joined", failures=("rewriter: no question came",))
    if gone := lost("\n".join(dialogue.said), text):
        named = ", ".join(f"{g.kind} {g.text}" for g in gone)
        return Query(text=words, also=also, how="joined", failures=(f"rewriter: lost {named}",))
    return Query(text=text, how="model")


def _drawn_out(dialogue: Dialogue) -> str:
    if not analyse_query(dialogue.utterance).consultation:
        return ""
    return " ".join(" ".join(e.answer.split()) for e in dialogue.exchanges if e.tells)


def joined(dialogue: Dialogue) -> str:
    """The person's own words, the first request first."""
    return " ".join(" ".join(text.split()) for text in dialogue.said)
