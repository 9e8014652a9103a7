"""Whether the simulated user says what only the documents know: the audit of its honesty.

A user that quotes the gold passage would make any assistant look good. Two things are looked
at: what was written into the items (facts that share wording with the passage), and what was
said in the run (words of the passage that neither the item nor the assistant had used before).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from naisei.intent.evaluation.items import Item
from naisei.intent.schemas import Exchange
from naisei.japanese.normal import normalise
from naisei.japanese.query_analysis import matter

__all__ = ["LONG", "leaked", "shared_run", "told_share"]

#: A run of so many letters that fact and passage share is wording, not subject matter.
LONG = 8


def leaked(item: Item, exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    """Words of substance of the gold passages that the user said first.

    Words of the question, the intent and the facts are the user's own, and so are those that
    the assistant had said before.
    """
    secret = {word for gold in item.gold for word in matter(gold.quote)}
    own = " ".join([item.text, item.intent, *(f"{f.about} {f.says}" for f in item.facts)])
    known = set(matter(own))
    out: list[str] = []
    for exchange in exchanges:
        known.update(matter(" ".join([exchange.question, *exchange.options])))
        out += [w for w in matter(exchange.answer) if w in secret - known]
    return tuple(dict.fromkeys(out))


def told_share(item: Item) -> float:
    """The share of the gold passages' words of substance that stand in the facts but not in the
    question: how much of the answer's wording an obliging user could give away. NaN without."""
    secret = {word for gold in item.gold for word in matter(gold.quote)}
    if not secret or not item.facts:
        return float("nan")
    told = set(matter(" ".join(f.says for f in item.facts))) - set(matter(item.text))
    return len(secret & told) / len(secret)


def shared_run(item: Item) -> str:
    """The longest run of letters that a fact shares with a gold passage."""
    best = ""
    for fact in item.facts:
        for gold in item.gold:
            a, b = normalise(fact.says), normalise(gold.quote)
            found = SequenceMatcher(None, a, b, autojunk=False).find_longest_match()
            if found.size > len(best):
                best = a[found.a : found.a + found.size]
    return best
