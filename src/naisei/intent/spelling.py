"""Rewrites a question in the documents' spelling: ゆうきゅう → 有給, 駐車城 → 駐車場, なんぼ →
いくら.

Children, learners of Japanese and hasty writers use such spellings, which search by words and by
meaning rarely match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar, cast

import jaconv
from pydantic import JsonValue

from naisei.core import Effect, Flow, Handler, Where
from naisei.intent.dialogue import Dialogue
from naisei.japanese.morph import is_japanese, morphemes, normalise
from naisei.japanese.sentences import known_words, search_tokens
from naisei.retrieval.index import Index

_KANJI, _KATAKANA = re.compile(r"[\u3400-\u9fff]+"), re.compile("[ァ-ヺー]+")
_RUN = re.compile(r"[\u3400-\u9fff]{2,}|[ァ-ヺー]{4,}")
_LATIN, _KANA = re.compile("[A-Za-z]{4,}"), re.compile("[ぁ-ゖー]{4,}")
_SYLLABLES = re.compile(
    r"(?:(?:[kgsztdnhbpmr]y|sh|ch|ts|[kgsztdnhbpmyrwjf])?[aiueo]|n(?![aiueoy])|([kstpc])(?=\1))+",
    re.I,
)
_PARTICLES = re.compile("([はがをのにでもと])")
#: Minimum number of kana in a word: shorter ones occur inside others.
_SHORTEST = 3
#: Minimum similarity of a misspelt word to the right one: one letter of four may differ.
_ALIKE = 0.75
#: Words of western Japan or of children, and their standard Japanese.
_DIALECT = tuple(
    (re.compile(said), plain)
    for said, plain in (
        ("なんぼ(?!でも)", "いくら"),
        ("ど(?:ない|げん)(?:し|や)(?:たら|って)", "どうしたら"),
        ("ど(?:ない|げん)", "どう"),
        ("ええ(?=[んのかです、。？]|$)", "いい"),
        ("(?:あか|いけ)ん(?:のん)?", "だめ"),
        ("(?<=[てで])まった", "しまった"),
        ("(?<=[かさたなまらわがばきしちにみりえけせてねめれべげ])へん", "ない"),
        ("(?<=[しでて])(?:はる|よる|とう|とる)", "いる"),
        ("(?:や|じゃ)けど", "だけど"),
        ("ほかす|ほかし", "捨てる"),
        ("なおす(?:とこ|場所)", "しまう場所"),
        ("もろ(?=[たてう])", "もらっ"),
        ("せな(?:あかん|いけん)", "しなければならない"),
        ("なんじ(?=[にかまで])", "何時"),
        ("なん(?:にち|日)", "何日"),
        ("なん(?:かい|回)", "何回"),
        ("なん(?:さい|才)", "何歳"),
        ("なん(?:てん|点)", "何点"),
        ("なん(?:まい|枚)", "何枚"),
    )
)


@dataclass(frozen=True)
class Respell(Effect[str]):
    """Requests a text with misspelt words replaced by similar words of the documents."""

    kind: ClassVar[str] = "respell"
    text: str

    def request(self) -> JsonValue:
        return {"text": self.text}


def standard(dialogue: Dialogue) -> Dialogue:
    """The dialogue with its request in standard Japanese: したんやけど does not mention a burn
    (やけど)."""
    text = dialogue.utterance
    for said, plain in _DIALECT:
        text = said.sub(plain, text)
    return dialogue.model_copy(update={"utterance": text})


def respelt(dialogue: Dialogue) -> Flow[Dialogue]:
    """The dialogue with its request respelt."""
    return dialogue.model_copy(update={"utterance": (yield from Respell(dialogue.utterance))})


class RespellHandler(Handler):
    """Respells by the words of an index. Word readings are cached with the index's generation."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> str:
        text = given = normalise(cast(Respell, effect).text)
        sounds: dict[str, str] = json.loads(self._index.cached("sounds.json", self._sounds))
        words = _Words(frozenset({*self._index.vocabulary(), *known_words()}), sounds)
        if all(map(_SYLLABLES.fullmatch, re.findall("[A-Za-z]+|[ぁ-ゖ]", text))):
            text = "".join(jaconv.alphabet2kana(text.lower()).split())
            text = standard(Dialogue(utterance=text)).utterance
        text = _LATIN.sub(lambda m: words.romaji(m[0], japanese=is_japanese(text)), text)
        alone = not _RUN.search(text)
        text = _KANA.sub(lambda m: words.kana(m[0], alone=alone), text)
        text = _RUN.sub(lambda m: words.run(m[0]), text)
        return cast(Respell, effect).text if text == given else text

    def _sounds(self) -> str:
        """Reading → the most frequent word in kanji or katakana, from the documents, their
        headings and the synonym lists."""
        titles = [" ".join([title, *headings]) for title, headings in self._index.outline()]
        named = (run for title in titles for run in _RUN.findall(title))
        every = {*self._index.vocabulary(), *known_words(), *(w for n in named for w in _within(n))}
        words = [w for w in every if _KANJI.fullmatch(w) or (_KATAKANA.fullmatch(w) and w[2:])]
        counts = self._index.frequencies(words)
        sounds = {_sound(word): word for word in sorted(words, key=lambda w: (counts[w], w))}
        return json.dumps(sounds, ensure_ascii=False)


def _within(compound: str) -> list[str]:
    """A compound from a heading and the compounds within it: 市営駐車場, 駐車場."""
    parts = [m.surface() for _, m in morphemes(compound, "A")][:8]
    ends = range(len(parts) + 1)
    return ["".join(parts[a:b]) for a in ends for b in ends if b > a]


def _sound(word: str) -> str:
    return jaconv.kata2hira("".join(m.reading_form() for _, m in morphemes(word, "C")))


@dataclass(frozen=True, slots=True)
class _Words:
    """known: search words of the documents and of the synonym lists. sounds: reading → word."""

    known: frozenset[str]
    sounds: dict[str, str]

    def romaji(self, word: str, *, japanese: bool) -> str:
        """The word for letters typed without the input method; in English text only a name."""
        if all(token in self.known for token in search_tokens(word)):
            return word
        if _SYLLABLES.fullmatch(word) is None:
            return word
        kana = jaconv.alphabet2kana(word.lower())
        return self.sounds.get(kana, kana if japanese else word)

    def kana(self, text: str, *, alone: bool) -> str:
        """Replace the longest words with this reading, from the left; beside kanji only those
        between particles. If there are none, replace one between particles with a similar reading.
        """
        found, at = "", 0
        longest = max(map(len, self.sounds), default=0)

        def whole(end: int) -> bool:
            before, after = text[at - 1 : at], text[end : end + 1]
            return alone or all(not c or _PARTICLES.fullmatch(c) for c in (before, after))

        while at < len(text):
            ends = range(min(longest + at, len(text)), at + _SHORTEST - 1, -1)
            end = next((n for n in ends if text[at:n] in self.sounds and whole(n)), at)
            found += self.sounds[text[at:end]] if end > at else text[at]
            at = max(end, at + 1)
        if found != text or not alone:
            return found
        parts = _PARTICLES.split(text)
        meant = (self._near(part, self.sounds) or part if len(part) > 4 else part for part in parts)
        return "".join(self.sounds.get(part, part) for part in meant)

    def run(self, text: str) -> str:
        """Replace a run of kanji or katakana that no document contains with the word that sounds or
        looks like it."""
        parts = [m.surface() for _, m in morphemes(text, "A")]
        alike = [w for w in {*self.known, *self.sounds.values()} if _same_letters(w, text)]
        for length in range(len(parts), 0, -1):
            for start in range(len(parts) - length + 1):
                word = "".join(parts[start : start + length])
                if len(word) < 2 or all(token in self.known for token in search_tokens(word)):
                    continue
                if meant := self.sounds.get(_sound(word)) or self._near(word, alike):
                    before, after = parts[:start], parts[start + length :]
                    return "".join([*before, meant, *after])
        return text

    def _near(self, word: str, words: Iterable[str]) -> str:
        """The word with the most similar spelling; empty if there is none or the word is short."""
        some = [w for w in words if abs(len(w) - len(word)) < 2] if len(word) > 3 else []
        if len(word) == 3 and _KANJI.fullmatch(word):
            some = [w for w in words if len(w) == 3 and w[:2] == word[:2]]
        alike = _ALIKE if len(word) > 3 else 2 / 3
        return next(iter(get_close_matches(word, sorted(some), 1, alike - 0.01)), "")


def _same_letters(one: str, two: str) -> bool:
    return any(form.fullmatch(one) and form.fullmatch(two) for form in (_KANJI, _KATAKANA))
