"""Texts that a model reads as data: between delimiters that they cannot hold themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naisei.core import fingerprint
from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Exchange
from naisei.lang import Language

__all__ = ["Fence"]

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
