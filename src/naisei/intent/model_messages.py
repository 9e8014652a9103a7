"""What the models are told; texts that are data stand between delimiters they cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from naisei import lang
from naisei.core import Evidence, Message, assistant, fingerprint, system, user
from naisei.intent.dialogue import Dialogue
from naisei.intent.evidence import place_of
from naisei.intent.rules import Setting
from naisei.intent.schemas import Exchange
from naisei.lang import Language

__all__ = ["PROMPTS", "Fence", "answerer_messages", "evaluator_messages", "rewriter_messages"]


_OFFERED = {
    "ja": "次の中に近いものはありますか（資料の見出しを並べました）。",
    "en": "Does one of these come near? (A list of headings was shown.)",
}


class Fence:
    """key: made of everything that is said, so that no part of it can foresee it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.key = fingerprint(list(texts))[:12]

    @classmethod
    def around(cls, dialogue: Dialogue) -> Fence:
        """For what a dialogue holds of the documents: the headings that were offered."""
        return cls([dialogue.model_dump_json()])

    def data(self, text: str) -> str:
        return f"<<<{self.key}>>>{text}<<<{self.key} />>>"

    def question(self, exchange: Exchange, language: Language) -> str:
        """A question back without the headings that it offered: those are the documents' words,
        and the question stands among the assistant's own."""
        return _OFFERED[language] if exchange.options else exchange.question

    def answer(self, exchange: Exchange) -> str:
        """An answer, the headings that were chosen marked as data."""
        offered = sorted((o for o in exchange.options if o), key=len, reverse=True)
        if not offered:
            return exchange.answer
        any_of = re.compile("|".join(map(re.escape, offered)))
        return any_of.sub(lambda m: self.data(m[0]), exchange.answer)


#: The prompts in use, by role.
PROMPTS = {
    "evaluator": "evaluator.v2",
    "rewriter": "rewriter.v2",
    "answerer": "answerer.v1",
    "documents": "documents.v1",
}
_UNKNOWN = {"ja": "（不明）", "en": "(unknown)"}
_NONE = {"ja": "（なし）", "en": "(none)"}
_BEFORE = {"ja": "以前に調べた質問:", "en": "Questions looked up before:"}


def evaluator_messages(dialogue: Dialogue, setting: Setting) -> list[Message]:
    """The dialogue as it went. No document is in it: what one says cannot change the route. Of
    headings that were offered, only the chosen ones are, in the user's role and as data."""
    language = setting.rules.language
    fence = Fence.around(dialogue)
    profile = setting.profile.told() or _UNKNOWN[language]
    told = _render(setting, "evaluator", profile=profile, key=fence.key)
    first = dialogue.utterance
    if dialogue.earlier:
        before = "\n".join(f"- {q}" for q in dialogue.earlier)
        first = f"{_BEFORE[language]}\n{fence.data(before)}\n\n{first}"
    turns = [user(first)]
    for e in dialogue.exchanges:
        turns += [assistant(fence.question(e, language)), user(fence.answer(e))]
    return [system(told), *turns]


def rewriter_messages(dialogue: Dialogue, setting: Setting) -> list[Message]:
    """The dialogue, and the wish for one question of it."""
    language = setting.rules.language
    fence = Fence.around(dialogue)
    before = "\n".join(f"- {q}" for q in dialogue.earlier)
    lines = [f"- {dialogue.utterance}"]
    for e in dialogue.exchanges:
        asked = "（聞き返し）" if language == "ja" else "(asked back)"
        lines += [f"- {asked} {fence.question(e, language)}", f"- {fence.answer(e)}"]
    text = _render(
        setting,
        "rewriter",
        key=fence.key,
        earlier=fence.data(before) if before else _NONE[language],
        dialogue="\n".join(lines),
    )
    return [user(text)]


def answerer_messages(query: str, hits: Sequence[Evidence], setting: Setting) -> list[Message]:
    """The rules in the system role; the documents as data in the user's, between delimiters."""
    told = system(_render(setting, "answerer", profile=setting.profile.told()))
    blocks = []
    for hit in hits:
        date = f" ({hit.meta['date']})" if hit.meta.get("date") else ""
        head = " ".join(f"{hit.meta.get('path') or ''}: {place_of(hit)}{date}".split())
        blocks.append(f"{head}\n{hit.text}")
    # Of texts, titles and paths alike: none of them can hold the delimiter.
    key = Fence([query, *blocks]).key
    documents = "\n".join(
        f"<<<{key} {n}>>>\n{block}\n<<<{key} /{n}>>>" for n, block in enumerate(blocks, 1)
    )
    text = _render(setting, "documents", key=key, documents=documents, question=query)
    return [told, user(text)]


def _render(setting: Setting, role: str, **values: object) -> str:
    return lang.render("naisei.intent", PROMPTS[role], setting.rules.language, **values)
