"""What one utterance gives away, counted: the level of its sentences and its cues."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from naisei.japanese.address import FORMS, addresses
from naisei.japanese.directives import deference, directives
from naisei.japanese.normal import normalise
from naisei.japanese.politeness import Level, honorifics, level
from naisei.japanese.speech import (
    Sentence,
    casual,
    closeness,
    distance,
    laughter,
    leisure,
    spoken,
    work,
)

__all__ = ["COUNTS", "Heard", "hear"]

#: What is counted in every utterance, in the order of `Heard.counts`.
COUNTS = (
    "sentences",
    "polite",
    "plain",
    "honorific",
    "direct",
    "defer",
    "comply",
    "casual",
    "laughter",
    "close",
    "stranger",
    "hostile",
    "work",
    "leisure",
    "addresses",
    "looked_up",
    "nearness",
    "japanese",
    "letters",
)
_AT = {name: at for at, name in enumerate(COUNTS)}
_LETTER = re.compile(r"[^\W\d_]")
_KANA = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々]")
_SNIPPET = 14


@dataclass(frozen=True, slots=True)
class Heard:
    """counts: by `COUNTS`, weighted by strength where a cue has one; japanese, letters: numbers
    of characters. cues: count → the words it was heard in."""

    counts: tuple[float, ...]
    cues: dict[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def hear(text: str, by: str = "", to: str = "") -> Heard:
    """Count an utterance of `by` to `to` (display names, for the address terms)."""
    counts = [0.0] * len(COUNTS)
    cues: dict[str, list[str]] = {}

    def note(count: str, words: str, strength: float = 1.0) -> None:
        counts[_AT[count]] += strength
        cues.setdefault(count, []).append(words)

    for found in laughter(normalise(text)):
        note("laughter", found.text)
    for sentence in spoken(text):
        counts[_AT["sentences"]] += 1
        if (how := level(sentence)) is not Level.NONE:
            note(how.value, _end(sentence))
        for found in honorifics(sentence):
            note("honorific", found.text)
        for found in directives(sentence):
            if found.strength:
                note("direct", found.text, found.strength)
        for found in deference(sentence):
            note("comply" if found.cue == "comply" else "defer", found.text, found.strength)
        for found in casual(sentence):
            note("casual", found.text)
        for found in closeness(sentence):
            note("close", found.text)
        for found in distance(sentence):
            note(found.cue, found.text)
        for found in work(sentence):
            note("work", found.text)
        for found in leisure(sentence):
            note("leisure", found.text)
        for form, words in addresses(sentence.text, to=to, by=by):
            note("addresses", words)
            counts[_AT["looked_up"]] += FORMS[form].deference
            counts[_AT["nearness"]] += FORMS[form].closeness
    counts[_AT["japanese"]] = float(len(_KANA.findall(text)))
    counts[_AT["letters"]] = float(len(_LETTER.findall(text)))
    return Heard(tuple(counts), {k: tuple(v) for k, v in cues.items()})


def _end(sentence: Sentence) -> str:
    """The end of a sentence, where its level shows, from a word on."""
    if len(sentence.text) <= _SNIPPET:
        return sentence.text
    kept = ""
    for word in reversed(sentence.words):
        if len(kept) + len(word.surface) >= _SNIPPET and kept:
            break
        kept = word.surface + kept
    return f"…{kept}"
