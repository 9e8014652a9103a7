"""A character's manner of speech as a measurement.

Sentences are analysed by their form, without a dictionary, for speed: register, ending, typical
words. A line is compared with statistics of the character's and other speakers' samples
(`naisei.director.voice_learning`): sentence endings, politeness and length, words, terms of address
and marks. A trait's weight is the log ratio of its shares in own and others' sentences or lines;
the sum over a line indicates whose voice it is (naive Bayes with tempered weights).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from naisei.japanese.morph import tokens
from naisei.lengths import cached_text

_SENTENCE = re.compile(r"[^。！？…\n〓♪]*[^。！？…\n〓♪\s「」（）、・〜ー][^。！？…\n]*")
_TRAIL = re.compile(r"[\s、。！？…〜ー♪」）ぁぃぅぇぉっ]+\Z")
_POLITE = re.compile(
    r"(?:(?:\A|、)(?:はい|ええ|いえ|いいえ|いえいえ)|です|ます|ません|でした|ました|でしょう|ましょう|ください|下さい|くださいませ|なさい(?!よ|って)|ございます|ませ|ごめんなさい|すみません|まし)(?:か|ね|よ|よね|が|けど|けれど|けれども|から|ので|し|の|って|とも|かね)*\Z"
)
_INSIDE = re.compile(
    r"(?:です|ます|ません|でした|ました|でしょう|ましょう)(?:から|が|けど|けれど|ので|し|、)"
)
_PLAIN = re.compile(
    r"(?:だ|だった|だよ|だね|だな|だろ|だろう|じゃん|じゃない|ない|なかった|たい|って|かな|かも|もん|の|よ|ね|さ|ぞ|ぜ|わ|な|っけ|か|て|で|ちゃ|じゃ|けど|から|し|のに|[うくぐすつぬぶむるたんいろえけせてねべめれ])\Z"
)
_BARE = re.compile(r"[ぁ-んー]")
_KANA = "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7)))) + "ー"
#: Maximum number of characters in an ending.
_LAST = 24


def sentences_of(masked: str) -> list[str]:
    """The sentences of a masked line without final marks, fillers and asides."""
    found = []
    for match in _SENTENCE.finditer(masked):
        text = _TRAIL.sub("", match[0].replace("〓", "")).strip()
        if text and text not in "「」（）":
            found.append(text)
    return found


def register(sentence: str) -> str:
    """Return `polite`, `plain`, or `bare` without a predicate (「五十個」)."""
    last = max(0, len(sentence) - _LAST)
    if _POLITE.search(sentence, last) or _INSIDE.search(sentence):
        return "polite"
    if _PLAIN.search(sentence, last) and _BARE.search(sentence[-1:]):
        return "plain"
    return "bare"


def ending(sentence: str) -> str:
    """Return up to five kana at the end of a sentence."""
    end = sentence[-5:]
    return end[len(end.rstrip(_KANA)) :]


_TELLING = frozenset({"感動詞", "代名詞", "接続詞", "副詞"})
#: First-person pronouns of a single character.
_ONE_KANJI = frozenset("俺僕私")


@cached_text(8192)
def words_of(line: str) -> tuple[str, ...]:
    """Words typical of a speaker: interjections, pronouns, conjunctions, adverbs, names with
    titles, contractions; at least two characters, except first-person pronouns."""
    found = []
    read = tokens(line)
    for at, word in enumerate(read):
        if word.surface in _ONE_KANJI:
            found.append(word.surface)
        elif word.detail == "名詞的" and at and len(word.surface + read[at - 1].surface) < 6:
            found.append(read[at - 1].surface + word.surface)
        elif (
            (word.pos in _TELLING and len(word.surface) > 1)
            or (word.pos in ("助詞", "助動詞") and at and len(word.surface) > 1)
            or word.kind in ("人名", "固有名詞")
            or word.detail == "固有名詞"
        ):
            found.append(word.surface)
    return tuple(w for w in found if len(w) > 1 or w in _ONE_KANJI)


Share = Annotated[float, Field(ge=0, le=1)]
Traits = dict[Annotated[str, Field(min_length=1)], tuple[Share, Share]]


class Voice(BaseModel):
    """A learnt voice, readable and editable in the profile's `[voice]`.

    lines, against: how many own and others' lines it was learnt from. register (`polite`,
    `plain`, `bare`), endings (of sentences) and lengths (`short` to 8 characters, `middle` to 20,
    `long`): shares of the own and of the others' sentences. words, marks: shares of the lines
    that hold them. warn_below, retry_below: a line's weight below the first is WARN (score 1),
    below the second surely another's voice (score 0); from `sure` on it is 3. false_warn,
    false_retry: shares of own lines below them, each line left out of what it was measured by;
    confused: share of others' lines that are not below `warn_below`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    lines: Annotated[int, Field(ge=1)]
    against: Annotated[int, Field(ge=1)]
    warn_below: float = -0.5
    retry_below: float = -3.0
    sure: float = 1.0
    false_warn: Share = 0.0
    false_retry: Share = 0.0
    confused: Share = 0.0
    register_: Traits = Field(default={}, alias="register")
    endings: Traits = {}
    lengths: Traits = {}
    words: Traits = {}
    marks: Traits = {}

    @model_validator(mode="after")
    def _ordered(self) -> Voice:
        if not self.retry_below <= self.warn_below <= self.sure:
            raise ValueError("retry_below, warn_below and sure must not decrease in this order")
        return self


#: Factor of each group's logarithms, since words and endings of a line are not independent.
_TEMPER = {"register": 1.0, "ending": 0.7, "length": 0.4, "word": 0.6, "mark": 0.5}
_CAP = 3.0
#: Further sentences do not add confidence to a mean.
_SENTENCES = 2.0
#: The counted marks.
MARKS = ("！", "？", "…", "ー", "っ！", "〜")


#: Share of polite sentences in a sometimes polite voice; maximum weight of other atypical traits.
_AT_TIMES, _SLIGHT = 0.03, 0.5
_POLITE_TRAIT = re.compile(
    r"register:polite|length:|mark:|(?:word|ending):.*(?:です|でし|ます|まし|ませ|くださ|ちそう)"
)
#: More polite than です and ます.
_HUMBLE = re.compile(r"ござい|いたし|致し|申し|存じ|左様|恐れ入|伺|ませ(?:。|！|$)|わたくし")
_ROUGH = re.compile(
    r"(?<![一-鿿])(?:俺様?|オレ様?)(?=[はがもをにのとだ、。！？…\s]|って|たち|ら|$)"
    r"|てめ[えぇー]|貴様|やが(?:れ|る|った)|(?<=[だるたいうくぐすつぬぶむ])ぜ(?=[。！？〜ー…\s]|$)"
)


class VoiceMeter:
    """Weighs lines against one voice. Linear in the length of the line."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self._register = _weights(voice.register_, "register")
        self._endings = _weights(voice.endings, "ending")
        self._lengths = _weights(voice.lengths, "length")
        self._words = _weights(voice.words, "word")
        self._marks = _weights(voice.marks, "mark")
        listed = sorted(self._words, key=len, reverse=True)
        self._word = re.compile("|".join(map(re.escape, listed)) or r"(?!)")
        self._longest = max(map(len, self._endings), default=0)
        self._polite = voice.register_.get("polite", (0.0, 0.0))[0] >= _AT_TIMES
        own = [name for name, shares in (*voice.words.items(), *voice.endings.items()) if shares[0]]
        self._rough = any(_ROUGH.search(f"だ{name}") or _ROUGH.search(name) for name in own)

    def weigh(self, masked: str) -> float:
        """The weight of a folded line with quotations masked; 0 for a line without words."""
        return sum(weight for _, weight in self._traits(masked))

    def traits(self, masked: str) -> list[tuple[str, float]]:
        """The traits that make up the weight, such as `ending:だよ`, the least typical first."""
        found: dict[str, float] = {}
        for (group, trait), weight in self._traits(masked):
            name = f"{group}:{trait}"
            found[name] = found.get(name, 0.0) + weight
        return sorted(found.items(), key=lambda item: item[1])

    def is_own_politeness(self, masked: str, foreign: Sequence[tuple[str, float]]) -> bool:
        """Whether only its polite forms make a line atypical, in a voice that sometimes uses them:
        people who talk plainly to friends are polite to a teacher."""
        other = sum(weight for name, weight in foreign if not _POLITE_TRAIT.match(name))
        return self._polite and other > -_SLIGHT and _HUMBLE.search(masked) is None

    def foreign_roughness(self, masked: str) -> str:
        """The first rough word (俺, 〜ぜ) of a line, if the voice has none; else ""."""
        found = None if self._rough else _ROUGH.search(masked)
        return found[0] if found else ""

    def _traits(self, masked: str) -> Iterator[tuple[tuple[str, str], float]]:
        said = sentences_of(masked)
        if not said:
            return
        part = min(len(said), _SENTENCES) / len(said)
        for sentence in said:
            kind = register(sentence)
            yield ("register", kind), part * self._register.get(kind, 0.0)
            end = ending(sentence)
            for size in range(min(len(end), self._longest), 0, -1):
                if end[-size:] in self._endings:
                    yield ("ending", end[-size:]), part * self._endings[end[-size:]]
                    break
            length = length_of(sentence)
            yield ("length", length), part * self._lengths.get(length, 0.0)
        for word in dict.fromkeys(match[0] for match in self._word.finditer(masked)):
            yield ("word", word), self._words[word]
        for mark, weight in self._marks.items():
            if mark in masked:
                yield ("mark", mark), weight


def length_of(sentence: str) -> str:
    return "short" if len(sentence) <= 8 else "middle" if len(sentence) <= 20 else "long"


def _weights(traits: Traits, group: str) -> dict[str, float]:
    return {
        name: _TEMPER[group] * max(-_CAP, min(_CAP, math.log((own + _DUST) / (other + _DUST))))
        for name, (own, other) in traits.items()
    }


#: Smoothing, so that a share of 0 is not certain.
_DUST = 0.004


def typical(shares: Traits, count: int) -> list[str]:
    """The most characteristic endings, none contained in another."""
    ranked = sorted(shares, key=lambda e: shares[e][0] - 3 * shares[e][1], reverse=True)
    chosen: list[str] = []
    for text in ranked:
        if len(text) > 1 and not any(text in other or other in text for other in chosen):
            chosen.append(text)
    return chosen[:count]
