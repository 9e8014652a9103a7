"""Words of a text exactly as it is written: every offset is the text's own."""

from __future__ import annotations

from dataclasses import dataclass

from naisei.japanese.morph import sudachi

__all__ = ["Word", "words"]

#: Sudachi takes at most 49,149 bytes at a time; a character has up to 4.
_LONGEST = 12_000


@dataclass(frozen=True, slots=True)
class Word:
    """start, end: offsets in the text. pos: part of speech (名詞, 助詞, …). lemma: dictionary
    form."""

    surface: str
    start: int
    end: int
    pos: str
    lemma: str


def words(text: str) -> list[Word]:
    """The words of a text, in order, white space left out; longer texts are cut every 12,000
    characters.

    >>> [(w.surface, w.start) for w in words("ＡＢＣ を読む")]
    [('ＡＢＣ', 0), ('を', 4), ('読む', 5)]
    """
    found: list[Word] = []
    for base in range(0, len(text), _LONGEST):
        for surface, start, pos, lemma in sudachi(text[base : base + _LONGEST]):
            if surface.strip():
                at = base + start
                found.append(Word(surface, at, at + len(surface), pos, lemma))
    return found
