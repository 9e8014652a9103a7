"""Splits utterances into sentences and tokens, and finds casual forms and laughter.

Removes quotations and stage directions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.japanese.sentences import sentences
from naisei.lengths import cached_text

_SPACE = re.compile(
    r"(?<=[\u3041-\u30ff\u3400-\u9fff])[ \t\u3000]+(?=[\u3041-\u30ff\u3400-\u9fff])"
)
_WHOLE = re.compile(r"[「『]([^「」『』]*)[」』]\s*")
_QUOTED = re.compile(r"「[^「」]*」")
_ASIDE = re.compile(r"[（(][^（）()]*[）)]")
#: Laughter and decoration at a sentence's end, which hide the ending; `laughter` counts them.
_DECORATION = re.compile(
    r"[wｗ笑草♪☆★♡♥〜～\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+(?=[。！？]*$)"
)
#: Maximum number of characters in a sentence; longer ones (pasted documents) are truncated.
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A match in a sentence: cue, matched text, strength (0–1)."""

    cue: str
    text: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A normalised sentence with quotations as 「」. `core`: the tokens without punctuation."""

    text: str
    words: tuple[Token, ...]

    @property
    def core(self) -> tuple[Token, ...]:
        return tuple(w for w in self.words if w.pos not in ("補助記号", "空白", "記号"))


@cached_text(8192)
def japanese_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the Japanese sentences of an utterance, in order; empty for English.

    A line break ends a sentence; a space within Japanese becomes 、.

    >>> [s.text for s in japanese_sentences("おはよう　元気？\\n「帰る」って言ってた（笑）")]
    ['おはよう、元気？', '「」って言ってた']
    """
    if (whole := _WHOLE.fullmatch(text.strip())) is not None:
        text = whole[1]
    found = []
    for row in text.splitlines():
        for piece in sentences(_SPACE.sub("、", row)):
            plain = _ASIDE.sub("", _QUOTED.sub("「」", normalise(piece)))[:_LONGEST]
            plain = _DECORATION.sub("", plain)
            if is_japanese(plain):
                found.append(Sentence(plain, tokens(plain)))
    return tuple(found)


_CASUAL = re.compile(
    r"じゃん|っけ|だよね|だし(?=[。！、]|$)|よね(?=[。！？ー〜、]|$)|(?<!で)すね?ー|(?:だ|いい|ない|る|た|い)(?:よ|な|ね|さ|の|ぞ|ぜ|わ)[ーぁあぇえ〜]*(?=[。！？…、]|$)"
    r"|ちゃ[っうえお]|じゃ[っう](?=[たて])|とく(?=[。！よねわ])|なきゃ|なくちゃ|って(?:ば|さ|か(?!ら)|いうか)|っぽい|めっちゃ|めちゃ|すっごい|すげ[ーえぇ]|やば|マジ|まじ|うざ|ウケる|うけ"
    r"|(?:^|[。！？、…])(?:ねえ|ねぇ|なあ|なぁ|えー+|ええー+|うわ|うん|ううん|うそ|嘘|へえ|へぇ|ふーん|わーい|わあ|そっか|そうそう|それな|ほんと|でしょ|だろ|いえーい|おっ(?=[、。！…]|$)|よっしゃ|だって|てか|つーか)"
    r"|んだ(?:よ|ね|けど|って|もん|から)|かな[あぁー]|っす(?:[かねよ]|$|。|！)"
)
_LAUGH = re.compile(
    r"(?<![a-zA-Zａ-ｚ])[wｗ]+(?![a-zA-Z.])|笑(?=[。！？）)]|$)|(?:あ|う|ふ|へ|え|い|ぎ)?は{2,}|あははは*|(?:うふ|えへ)[ふへ]+|ふふ+|へへ+|草(?=[。！]|$)|[♪♡♥]|[\U0001f600-\U0001f64f\U0001f923-\U0001f929\U0001f970-\U0001f97a]"
)


def at_words(search: re.Pattern[str], sentence: Sentence) -> Iterator[re.Match[str]]:
    """Matches that start at a token: こちら does not contain うちら."""
    starts: set[int] | None = None
    for match in search.finditer(sentence.text):
        if starts is None:
            starts = {word.start for word in sentence.words}
        if match.start() in starts:
            yield match


_INVITING = frozenset({"です", "ます", "だ"})


def casual(sentence: Sentence) -> list[CueMatch]:
    """Casual particles, contractions and interjections."""
    found = [CueMatch("casual", m[0]) for m in _CASUAL.finditer(sentence.text)]
    if (invited := _invitation(sentence)) != "":
        found.append(CueMatch("invitation", invited))
    return found


def laughter(text: str) -> list[CueMatch]:
    """Laughter in the original text of an utterance."""
    return [CueMatch("laughter", m[0]) for m in _LAUGH.finditer(text)]


def _invitation(sentence: Sentence) -> str:
    """The final plain volitional (「行こうよ」, not 「行きましょう」), or ""."""
    words = [w for w in sentence.core if w.detail != "終助詞"]
    if words and words[-1].inflection.startswith("意志推量") and words[-1].lemma not in _INVITING:
        return words[-1].surface
    return ""
