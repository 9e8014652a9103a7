"""An answer's sentences held against the passages that they cite, by rules and by a model.

Rules tell numbers, limits, rows and polarity (`naisei.intent.support`); whose condition it is,
whom to ask, and what was merged is told by a model that sees nothing but the question, the cited
passages and the sentences. What is not borne out gives way to the passage's own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from naisei.core import Chat, Evidence, Flow
from naisei.intent.extraction import best_passage
from naisei.intent.messages import verifier_messages
from naisei.intent.rules import Setting
from naisei.intent.support import claims
from naisei.japanese.sentences import search_tokens
from naisei.schema import model_field


class CheckedSentence(BaseModel):
    """A sentence of an answer. sources: numbers of hits, from 1. why: it is not borne out; empty
    if it is."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: tuple[int, ...] = ()
    why: str = ""


class Finding(BaseModel):
    """What the verifying model says of one sentence."""

    model_config = ConfigDict(frozen=True)

    sentence: int = model_field("文の番号", "Number of the sentence")
    problem: str = model_field(
        "食い違いを一言で。なければ空", "What differs; empty if nothing does", ""
    )
    holds: bool = model_field("資料のとおりか", "Whether the documents bear it out")


class Checked(BaseModel):
    """What the verifying model gives. A sentence that it passes over holds."""

    model_config = ConfigDict(frozen=True)

    findings: Annotated[tuple[Finding, ...], Field(max_length=80)] = model_field(
        "文ごとの結果", "One for each sentence"
    )


def verified(
    query: str, said: Sequence[CheckedSentence], hits: Sequence[Evidence], setting: Setting
) -> Flow[list[CheckedSentence]]:
    """The same, with what the model finds wrong. Asks once; sentences that rules have found wrong,
    and those that claim nothing, are not asked about."""
    asked = [n for n, s in enumerate(said) if not s.why and s.sources and claims(s.text)]
    if not asked:
        return list(said)
    lines = [(said[n].text, said[n].sources) for n in asked]
    checked = yield from Chat("verifier", verifier_messages(query, lines, hits, setting), Checked)
    wrong = {
        asked[f.sentence - 1]: f.problem or _DIFFERS[setting.rules.language]
        for f in checked.findings
        if not f.holds and 1 <= f.sentence <= len(asked)
    }
    return [s.model_copy(update={"why": wrong.get(n, s.why)}) for n, s in enumerate(said)]


_DIFFERS = {"ja": "資料と違う", "en": "the documents say something else"}


def in_their_words(
    query: str, said: Sequence[CheckedSentence], hits: Sequence[Evidence]
) -> list[tuple[str, tuple[int, ...]]]:
    """The parts of the answer: the sentences that are borne out, then for the others the row or
    sentences of the first passage that they cite, each once."""
    quotes: list[tuple[str, tuple[int, ...]]] = []
    for s in (s for s in said if s.why and s.sources):
        words = tuple(dict.fromkeys(search_tokens(f"{query} {s.text}")))
        quote = best_passage(words, dict.fromkeys(words, 1.0), hits[s.sources[0] - 1].text)
        part = (f"\n{quote}", s.sources[:1])
        quotes += [part] if part not in quotes else []
    return [*((s.text, s.sources) for s in said if not s.why), *quotes]
