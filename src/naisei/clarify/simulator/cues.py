"""Cues: sets of words that must all be in a question."""

from __future__ import annotations

from collections.abc import Iterable

from naisei.japanese.morph import tokens
from naisei.japanese.questions import words

__all__ = ["Cue", "cue", "fits", "folded"]

#: Words that must all be there, in normalised form.
Cue = frozenset[str]

#: One form for each negation and for pairs that Sudachi keeps apart.
_SAME = {
    "無い": "ない",
    "ぬ": "ない",
    "ず": "ない",
    "すく": "空く",
    "ほしい": "欲しい",
    "御腹": "お腹",
    "ご飯": "御飯",
    "ごみ": "ゴミ",
    "暖かい": "温かい",
    "暖める": "温める",
    "関わる": "関係",
    "関する": "関係",
    "関連": "関係",
    "纏わる": "関係",
    "貰う": "もらう",
    "くる": "来る",
    "直ぐ": "すぐ",
    "お子": "子",
    "お酒": "酒",
    "御酒": "酒",
    "だ": "です",
    "掛ける": "かける",
}


def folded(forms: Iterable[str]) -> frozenset[str]:
    """The words of a question as cues spell them."""
    return frozenset(_SAME.get(f, f) for f in forms)


def cue(text: str, language: str) -> Cue:
    """A cue from its written form.

    Japanese: parts joined by `+`; each part's content words count; `=` marks a part taken
    as it stands. English: words. Raises ValueError for a cue without words.
    """
    if language == "en":
        made = frozenset(words(text))
    else:
        made = folded(form for part in text.split("+") for form in _part(part))
    if not made:
        raise ValueError(f"the cue '{text}' has no words")
    return made


#: Normalised forms that mean something else when they stand alone as text.
_VERBATIM = frozenset({"為る", "居る"})


def _part(part: str) -> list[str]:
    if part.startswith("=") or part in _VERBATIM:
        return [part.removeprefix("=")]
    found = tokens(part)
    return [t.form for t in found if t.content] or [t.form for t in found]


def fits(cues: Iterable[Cue], having: frozenset[str]) -> list[Cue]:
    """The cues all of whose words are there."""
    return [c for c in cues if c <= having]
