"""An article as the text that a model is shown, in pieces that it can repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from naisei.emphasis.schemas import Article, Sentence

__all__ = ["LONGEST", "Passage", "passages"]

#: Characters of a passage: what a model can be trusted to repeat word for word.
LONGEST = 1200


@dataclass(frozen=True, slots=True)
class Passage:
    """text: paragraphs, one a line. sentences: with the place of each in the text."""

    text: str
    sentences: tuple[tuple[Sentence, int], ...]


def passages(article: Article, *, longest: int = LONGEST) -> list[Passage]:
    """Whole sentences in order; a paragraph is parted only where it is longer than `longest`,
    and a sentence never."""
    out: list[Passage] = []
    held: list[list[Sentence]] = []
    for _, group in groupby(article.sentences, lambda s: s.block):
        for paragraph in _parted(list(group), longest):
            if held and _length(held) + _length([paragraph]) > longest:
                out.append(_passage(held))
                held = []
            held.append(paragraph)
    if held:
        out.append(_passage(held))
    return out


def _parted(paragraph: Sequence[Sentence], longest: int) -> list[list[Sentence]]:
    parts: list[list[Sentence]] = [[]]
    for sentence in paragraph:
        if parts[-1] and _length([parts[-1]]) + len(sentence.text) > longest:
            parts.append([])
        parts[-1].append(sentence)
    return parts


def _length(paragraphs: Sequence[Sequence[Sentence]]) -> int:
    return sum(len(s.text) + 1 for paragraph in paragraphs for s in paragraph)


def _passage(paragraphs: Sequence[Sequence[Sentence]]) -> Passage:
    text, placed = "", []
    for paragraph in paragraphs:
        text += "\n" if text else ""
        for i, sentence in enumerate(paragraph):
            # Sentences of Japanese touch each other; others were parted by a space.
            if i and text[-1:].isascii() and sentence.text[:1].isascii():
                text += " "
            placed.append((sentence, len(text)))
            text += sentence.text
    return Passage(text, tuple(placed))
