"""A question in kana alone, in the documents' own spelling: ゆうきゅう becomes 有給.

Children and people who learn Japanese write so; search by words and by meaning hardly knows it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar, cast

import jaconv
from pydantic import JsonValue

from naisei.core import Effect, Flow, Handler, Where
from naisei.intent.dialogue import Dialogue
from naisei.japanese.morph import morphemes, normalise
from naisei.japanese.sentences import known_words
from naisei.retrieval.index import Index

_KANA = re.compile(r"[ぁ-ゖー、。？！\s]{8,}")
_KANJI = re.compile(r"[\u3400-\u9fff]+")
#: What follows the stem of a verb: かかります is no 係.
_VERB = re.compile("ま[すしせ]|[るたて]|ない|なか")
#: Kana of a word at least: shorter ones stand within others.
_SHORTEST = 3


@dataclass(frozen=True)
class Respell(Effect[str]):
    """A text in kana, with the words of the documents for those that sound like them."""

    kind: ClassVar[str] = "respell"
    text: str

    def request(self) -> JsonValue:
        return {"text": self.text}


def respelt(dialogue: Dialogue) -> Flow[Dialogue]:
    """The dialogue, its request respelt where it is all in kana."""
    if not _KANA.fullmatch(normalise(dialogue.utterance)):
        return dialogue
    return dialogue.model_copy(update={"utterance": (yield from Respell(dialogue.utterance))})


class RespellHandler(Handler):
    """Respells by the words of an index. Their sounds are kept with the index's generation."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> str:
        text = normalise(cast(Respell, effect).text)
        sounds: dict[str, str] = json.loads(self._index.cached("sounds.json", self._sounds))
        found, at = "", 0
        longest = max(map(len, sounds), default=0)
        while at < len(text):
            lengths = range(min(longest, len(text) - at), _SHORTEST - 1, -1)
            found_at = (text[at : at + n] for n in lengths if not _VERB.match(text, at + n))
            word = next((sound for sound in found_at if sound in sounds), "")
            found += sounds.get(word, text[at])
            at += len(word) or 1
        return found

    def _sounds(self) -> str:
        """Sound → the word in kanji that stands in most chunks, or that is another for theirs."""
        every = {*self._index.vocabulary(), *known_words()}
        words = [word for word in every if _KANJI.fullmatch(word)]
        counts = self._index.frequencies(words)
        sounds: dict[str, str] = {}
        for word in sorted(words, key=lambda w: (counts[w], w)):
            sound = "".join(m.reading_form() for _, m in morphemes(word, "C"))
            sounds[jaconv.kata2hira(sound)] = word
        return json.dumps(sounds, ensure_ascii=False)
