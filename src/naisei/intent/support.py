"""Whether a sentence is borne out by the chunks that it cites. No model is asked.

Numbers, amounts and dates of the sentence must stand in the chunks; of its content words, at
least half must. A sentence without either says nothing that could be borne out.
"""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Evidence
from naisei.intent.evidence import place_of
from naisei.japanese.content_preservation import denied, missing
from naisei.japanese.search_tokens import search_tokens
from naisei.lang import Language

__all__ = ["MIN_OVERLAP", "unsupported"]

#: Share of a sentence's content words that the chunks must hold.
MIN_OVERLAP = 0.5


def unsupported(sentence: str, sources: Sequence[Evidence], language: Language) -> str:
    """Why a sentence is not borne out; empty if it is."""
    ja = language == "ja"
    if not sources:
        return "出典がない" if ja else "no source is cited"
    text = "\n".join(f"{place_of(s)}\n{s.meta.get('date') or ''}\n{s.text}" for s in sources)
    if gone := missing(sentence, text):
        named = "、".join(q.value + q.unit for q in gone)
        return f"出典にない数値: {named}" if ja else f"not in the sources: {named}"
    words = set(search_tokens(sentence))
    if words:
        share = len(words & set(search_tokens(text))) / len(words)
        if share < MIN_OVERLAP:
            return (
                f"出典と重なる語が少ない（{share:.0%}）"
                if ja
                else f"few of its words are in the sources ({share:.0%})"
            )
    turned = [w for w in denied(sentence) if w in text and w not in denied(text)]
    if turned:
        return f"出典にない否定: {turned[0]}" if ja else f"denied only here: {turned[0]}"
    return ""
