"""A model's answer held against its sources: citations that exist, sentences borne out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from naisei.core import Evidence
from naisei.intent.evidence import place_of
from naisei.intent.extract import best_passage
from naisei.intent.rules import Rules
from naisei.intent.schemas import Citation, Unsupported
from naisei.intent.support import unsupported
from naisei.japanese.search_tokens import search_tokens
from naisei.japanese.sentences import sentences

__all__ = ["Drafted", "Grounded", "Sentence", "grounded"]

_MARK = {"ja": "（出典で確認できません）", "en": " (not borne out by the sources)"}
_BRACKETS = re.compile(r"\s*[\[［【(（](?:資料|document)?\s*\d+(?:\s*[,、]\s*\d+)*[\]］】)）]")


def _listed(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, int) else value


class Sentence(BaseModel):
    """One sentence of an answer, and the numbers of the documents that say so."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: Annotated[tuple[int, ...], BeforeValidator(_listed)] = ()


class Drafted(BaseModel):
    """What the answering model gives. answerable: whether the documents hold the answer."""

    model_config = ConfigDict(frozen=True)

    answerable: bool
    sentences: Annotated[tuple[Sentence, ...], Field(max_length=40)] = ()


class Grounded(BaseModel):
    """An answer with its marks [1]; empty text where nothing is left of it."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()

    @staticmethod
    def of(
        parts: Sequence[tuple[str, tuple[int, ...]]],
        hits: Sequence[Evidence],
        *,
        separator: str = "",
        doubts: tuple[Unsupported, ...] = (),
    ) -> Grounded:
        """Numbers the chunks anew in the order in which they are cited."""
        order: dict[int, int] = {}
        lines, said = [], dict[int, str]()
        for text, sources in parts:
            for number in sources:
                order.setdefault(number, len(order) + 1)
                said[number] = f"{said.get(number, '')} {text}"
            marks = "".join(f"[{order[n]}]" for n in dict.fromkeys(sources))
            lines.append(f"{text}{marks}")
        cited = tuple(_citation(n, hits[old - 1], said[old]) for old, n in order.items())
        return Grounded(text=separator.join(lines), citations=cited, unsupported=doubts)


def grounded(draft: Drafted, hits: Sequence[Evidence], rules: Rules) -> Grounded:
    """The draft with every sentence held against the chunks it cites.

    Numbers of documents that were not given are no sources. Sentences that are not borne out
    are marked or left out, by `rules.unsupported`; if none is borne out, nothing is left.
    """
    if not draft.answerable:
        return Grounded()
    parts: list[tuple[str, tuple[int, ...]]] = []
    doubts: list[Unsupported] = []
    borne = 0
    for given in draft.sentences:
        sources = tuple(n for n in dict.fromkeys(given.sources) if 1 <= n <= len(hits))
        # A model may put several sentences into one: each has to stand by itself.
        for text in sentences(_BRACKETS.sub("", given.text)):
            why = unsupported(text, [hits[n - 1] for n in sources], rules.language)
            if why:
                doubts.append(Unsupported(sentence=text, why=why))
                if rules.unsupported == "mark":
                    parts.append((f"{text}{_MARK[rules.language]}", sources))
            else:
                borne += 1
                parts.append((text, sources))
    if not borne:
        return Grounded(unsupported=tuple(doubts))
    separator = "" if rules.language == "ja" else " "
    return Grounded.of(parts, hits, separator=separator, doubts=tuple(doubts))


def _citation(n: int, hit: Evidence, said: str) -> Citation:
    headings = hit.meta.get("headings")
    page, date = hit.meta.get("page"), hit.meta.get("date")
    words = tuple(dict.fromkeys(search_tokens(said)))
    quote = best_passage(words, dict.fromkeys(words, 1.0), hit.text)
    return Citation(
        n=n,
        chunk=hit.id,
        path=str(hit.meta.get("path") or ""),
        title=str(hit.meta.get("title") or place_of(hit)),
        headings=tuple(map(str, headings)) if isinstance(headings, list) else (),
        page=page if isinstance(page, int) else None,
        date=str(date) if date else None,
        quote=quote,
    )
