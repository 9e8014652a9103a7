"""An utterance cut into sentences with their words, ready for the questions of speech level.

Quotations and stage directions are left out: what somebody quotes is not how they speak.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from naisei.japanese.morph import Token, tokens
from naisei.japanese.normal import is_japanese, normalise
from naisei.japanese.sentences import sentences

__all__ = ["Found", "Sentence", "spoken"]

_SPACE = re.compile(
    r"(?<=[\u3041-\u30ff\u3400-\u9fff])[ \t\u3000]+(?=[\u3041-\u30ff\u3400-\u9fff])"
)
_WHOLE = re.compile(r"[「『]([^「」『』]*)[」』]\s*")
_QUOTED = re.compile(r"「[^「」]*」")
_ASIDE = re.compile(r"[（(][^（）()]*[）)]")
#: Laughter and decoration at a sentence's end hide the ending; `rapport` reads them by itself.
_DECORATION = re.compile(
    r"[wｗ笑草♪☆★♡♥〜～\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+(?=[。！？]*$)"
)
#: A sentence longer than this is cut: a talk has none, and a pasted document must not stop it.
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """Something heard in a sentence: which cue, the words it was heard in, how strong (0–1)."""

    cue: str
    text: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """text: normalised, quotations as 「」. words: its words; `core`: without marks."""

    text: str
    words: tuple[Token, ...]

    @property
    def core(self) -> tuple[Token, ...]:
        return tuple(w for w in self.words if w.pos not in ("補助記号", "空白", "記号"))


@lru_cache(maxsize=8192)
def spoken(text: str) -> tuple[Sentence, ...]:
    """The Japanese sentences of an utterance, in order; none for an empty or English text.

    A line break ends a sentence, a space inside Japanese is a pause.

    >>> [s.text for s in spoken("おはよう　元気？\\n「帰る」って言ってた（笑）")]
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
