"""Zero-shot emphasis (thesis, section 4.6): passage by passage, each reply laid on the text."""

from __future__ import annotations

from naisei.core import Chat, Flow, InstrumentFailure
from naisei.emphasis.evaluation.results import Marked, PartResult, marked
from naisei.emphasis.schemas import Article
from naisei.emphasis.zero_shot.align import Aligned, align
from naisei.emphasis.zero_shot.labels import token_labels
from naisei.emphasis.zero_shot.passages import Passage, passages
from naisei.emphasis.zero_shot.words import again, messages
from naisei.lang import Language

__all__ = ["ENOUGH", "emphasise", "examine"]

#: Share of a passage that a reply must repeat; below it, nobody knows what was meant.
ENOUGH = 0.9


def examine(article: Article, *, language: Language) -> Flow[PartResult]:
    """All passages of one document."""
    rows: list[list[bool]] = []
    shares: list[float] = []
    for passage in passages(article):
        found = yield from emphasise(article.title, passage, language=language)
        rows += token_labels(passage, found.bold)
        shares.append(found.share)
    return PartResult(
        documents=(Marked(article=article.id, spans=marked(rows)),),
        tokens=sum(len(s.tokens) for s in article.sentences),
        aligned=sum(shares) / len(shares) if shares else 1.0,
    )


def emphasise(title: str, passage: Passage, *, language: Language) -> Flow[Aligned]:
    """One passage; asked once more if the reply does not repeat it.

    Raises:
        InstrumentFailure: neither reply repeats the text.
    """
    told = messages(title, passage, language)
    reply = yield from Chat("editor", told)
    found = align(passage.text, reply)
    if found.share < ENOUGH:
        reply = yield from Chat("editor", again(told, reply, language))
        found = align(passage.text, reply)
    if found.share < ENOUGH:
        raise InstrumentFailure(f"the reply repeats {found.share:.0%} of the text, twice asked")
    return found
