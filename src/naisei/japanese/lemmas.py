"""Words of a text in their normalised form, Japanese and English: 「のどが渇いた」 → 喉, 渇く."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from naisei.japanese.morph import tokens

__all__ = ["lemmas"]

_SUFFIXES = ("ing", "ed", "es", "s")
_LATIN = re.compile(r"([a-z]+)")


@lru_cache(maxsize=65536)
def lemmas(text: str) -> tuple[str, ...]:
    """Content words in order, each in Sudachi's normalised form.

    Particles, auxiliaries, punctuation and honorific prefixes are left out; English words
    are lower-cased and cut to a rough stem. An empty text gives an empty tuple.
    """
    found: list[str] = []
    # Sudachi normalises English words into katakana ones, so they are cut out first.
    for piece in _LATIN.split(unicodedata.normalize("NFKC", text).lower()):
        if _LATIN.fullmatch(piece):
            found.append(_stem(piece))
        else:
            found += [t.form for t in tokens(piece) if t.content]
    return tuple(found)


def _stem(word: str) -> str:
    """English inflection cut off, roughly: enough to match a cue list against a text."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word.rstrip("e") or word
