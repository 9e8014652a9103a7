"""What a model says as a speaker, freed of what is not speech."""

from __future__ import annotations

import re

__all__ = ["spoken"]

_QUOTES = {"「": "」", "『": "』", '"': '"', "“": "”"}


def spoken(reply: str, me: str, partner: str) -> str:
    """The words themselves: without the own name before them, without quotation marks round the
    whole, and without what follows when a model goes on as the other."""
    text = reply.strip()
    if (own := _label(me).match(text)) is not None:
        text = text[own.end() :]
    if (beyond := re.search(rf"\n\s*{_label(partner).pattern}", text)) is not None:
        text = text[: beyond.start()]
    text = text.strip()
    if text and _QUOTES.get(text[0]) == text[-1] and len(text) > 2:
        inner = text[1:-1]
        # 「…」と「…」 begins and ends so, too.
        if text[0] not in inner and text[-1] not in inner:
            text = inner.strip()
    return text


def _label(name: str) -> re.Pattern[str]:
    short = {re.escape(part) for part in (name, name.split()[0], name.replace(" ", ""))}
    return re.compile(rf"(?:{'|'.join(sorted(short, key=len, reverse=True))})\s*[:：]\s*")
