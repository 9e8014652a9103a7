"""Words of a text exactly as it is written: every offset is the text's own."""

from __future__ import annotations

from dataclasses import dataclass

from naisei.japanese.morph import morphemes

__all__ = ["Word", "words"]


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
    """The words of a text, in order, white space left out.

    >>> [(w.surface, w.start) for w in words("ＡＢＣ を読む")]
    [('ＡＢＣ', 0), ('を', 4), ('読む', 5)]
    """
    found: list[Word] = []
    for base, m in morphemes(text):
        surface, start = m.surface(), base + m.begin()
        if surface.strip():
            pos, lemma = m.part_of_speech()[0], m.dictionary_form()
            found.append(Word(surface, start, start + len(surface), pos, lemma))
    return found
