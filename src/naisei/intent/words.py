"""What the models are told."""

from __future__ import annotations

from collections.abc import Sequence

from naisei import prompts
from naisei.core import Evidence, Message, assistant, fingerprint, system, user
from naisei.intent.dialogue import Dialogue
from naisei.intent.evidence import place_of
from naisei.intent.rules import Setting

__all__ = ["PROMPTS", "answerer_messages", "evaluator_messages", "rewriter_messages"]

#: The prompts in use, by role.
PROMPTS = {
    "evaluator": "evaluator.v1",
    "rewriter": "rewriter.v1",
    "answerer": "answerer.v1",
    "documents": "documents.v1",
}
_UNKNOWN = {"ja": "（不明）", "en": "(unknown)"}
_NONE = {"ja": "（なし）", "en": "(none)"}


def evaluator_messages(dialogue: Dialogue, setting: Setting) -> list[Message]:
    """The dialogue as it went. No document is in it: what one says cannot change the route."""
    language = setting.rules.language
    told = _render(
        setting,
        "evaluator",
        profile=setting.profile.told() or _UNKNOWN[language],
        earlier="\n".join(f"- {q}" for q in dialogue.earlier) or _NONE[language],
    )
    return [system(told), *_turns(dialogue)]


def rewriter_messages(dialogue: Dialogue, setting: Setting) -> list[Message]:
    """The dialogue, and the wish for one question of it."""
    language = setting.rules.language
    earlier = "\n".join(f"- {q}" for q in dialogue.earlier) or _NONE[language]
    lines = [f"- {dialogue.utterance}"]
    for e in dialogue.exchanges:
        asked = "（聞き返し）" if language == "ja" else "(asked back)"
        lines += [f"- {asked} {e.question}", f"- {e.answer}"]
    return [user(_render(setting, "rewriter", earlier=earlier, dialogue="\n".join(lines)))]


def answerer_messages(query: str, hits: Sequence[Evidence], setting: Setting) -> list[Message]:
    """The rules in the system role; the documents as data in the user's, between delimiters."""
    told = system(_render(setting, "answerer", profile=setting.profile.told()))
    # The delimiter is made of the documents themselves, so that none of them can hold it.
    key = fingerprint([hit.text for hit in hits])[:12]
    blocks = []
    for n, hit in enumerate(hits, 1):
        date = f" ({hit.meta['date']})" if hit.meta.get("date") else ""
        head = " ".join(f"{hit.meta.get('path') or ''}: {place_of(hit)}{date}".split())
        blocks.append(f"<<<{key} {n}>>>\n{head}\n{hit.text}\n<<<{key} /{n}>>>")
    text = _render(setting, "documents", key=key, documents="\n".join(blocks), question=query)
    return [told, user(text)]


def _turns(dialogue: Dialogue) -> list[Message]:
    turns = [user(dialogue.utterance)]
    for e in dialogue.exchanges:
        turns += [assistant(e.question), user(e.answer)]
    return turns


def _render(setting: Setting, role: str, **values: object) -> str:
    return prompts.render("naisei.intent", PROMPTS[role], setting.rules.language, **values)
